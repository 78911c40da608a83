import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { create, createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ErrorInfoSchema } from '../../gen/google/rpc/error_details_pb.js';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../gen/grpc/health/v1/health_pb.js';
import { ServerReflection, type ServerReflectionRequest } from '../../gen/grpc/reflection/v1/reflection_pb.js';
import { ServerReflection as ServerReflectionAlpha } from '../../gen/grpc/reflection/v1alpha/reflection_pb.js';
import { GOOD, type Port, startPort } from '../support/port.ts';
import { until } from '../support/temp.ts';

const run = promisify(execFile);
// Avoids npx, which takes longer to start than the call.
const BUF = createRequire(import.meta.url).resolve('@bufbuild/buf/bin/buf');
let port: Port;

beforeAll(async () => {
  port = await startPort({ serve: () => ({ view: { case: 'trace', value: { traceId: 'abc', metadataJson: '{}' } } }) });
});
afterAll(() => port.drain(500));

describe('health', () => {
  const surfaces = () => [
    createGrpcTransport({ baseUrl: port.address }),
    createGrpcWebTransport({ baseUrl: port.address, httpVersion: '1.1' }),
    createConnectTransport({ baseUrl: port.address, httpVersion: '1.1' }),
  ];

  it('is returned for the process and each service, without a credential', async () => {
    for (const transport of surfaces()) {
      const health = createClient(Health, transport);
      for (const service of ['', 'spandrel.v1.TraceService', 'spandrel.v1.EventService']) {
        expect((await health.check({ service })).status).toBe(Status.SERVING);
      }
    }
  });

  it('of an unknown service is not found', async () => {
    for (const transport of surfaces()) {
      const error = await createClient(Health, transport).check({ service: 'nope' }).catch(ConnectError.from);
      expect(error).toMatchObject({ code: Code.NotFound });
      expect((error as ConnectError).findDetails(ErrorInfoSchema)).toHaveLength(1);
    }
  });

  it('is sent to watchers when it changes, and their streams then end', async () => {
    const own = await startPort();
    const health = createClient(Health, createGrpcTransport({ baseUrl: own.address }));
    const statuses: Status[] = [];
    for await (const { status } of health.watch({ service: '' })) {
      statuses.push(status);
      own.setAccepting(false);
    }
    expect(statuses).toEqual([Status.SERVING, Status.NOT_SERVING]);
    expect((await health.check({})).status).toBe(Status.NOT_SERVING);
    await own.drain(500);
  });

  it('is NOT_SERVING while the store is unavailable, and SERVING afterwards', async () => {
    const own = await startPort();
    const health = createClient(Health, createGrpcTransport({ baseUrl: own.address }));
    const statuses: Status[] = [];
    for await (const { status } of health.watch({ service: 'spandrel.v1.TraceService' })) {
      statuses.push(status);
      if (statuses.length === 3) break;
      own.setReady(status === Status.NOT_SERVING);
      await until(async () => (await health.check({})).status !== status);
    }
    expect(statuses).toEqual([Status.SERVING, Status.NOT_SERVING, Status.SERVING]);
    await own.drain(500);
  });

  it('of an unknown service can be watched', async () => {
    const health = createClient(Health, createGrpcTransport({ baseUrl: port.address }));
    for await (const { status } of health.watch({ service: 'nope' })) {
      expect(status).toBe(Status.SERVICE_UNKNOWN);
      break;
    }
  });
});

describe.each([ServerReflection, ServerReflectionAlpha as unknown as typeof ServerReflection])(
  'reflection by $typeName',
  (service) => {
    async function ask(messageRequest: ServerReflectionRequest['messageRequest']) {
      const client = createClient(service, createGrpcTransport({ baseUrl: port.address }));
      async function* requests() {
        yield { host: 'h', messageRequest };
      }
      for await (const { messageResponse, validHost } of client.serverReflectionInfo(requests())) {
        expect(validHost).toBe('h');
        return messageResponse;
      }
      throw new Error('no answer');
    }

    async function filesOf(question: ServerReflectionRequest['messageRequest']) {
      const answer = await ask(question);
      if (answer.case !== 'fileDescriptorResponse') throw new Error(`answered ${answer.case}`);
      return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
    }

    it('lists the services', async () => {
      const answer = await ask({ case: 'listServices', value: '' });
      expect(answer.case).toBe('listServicesResponse');
      expect(JSON.stringify(answer.value)).toMatch(
        /spandrel\.v1\.TraceService.*spandrel\.v1\.EventService.*grpc\.health\.v1\.Health/,
      );
    });

    it.each([
      'spandrel.v1.TraceService',
      'spandrel.v1.TraceService.GetTrace',
      'spandrel.v1.GetTraceRequest',
      'spandrel.v1.GetTraceRequest.trace_id',
      'spandrel.v1.TraceFormat',
    ])('finds the file of %s with all it needs', async (symbol) => {
      const file = await filesOf({ case: 'fileContainingSymbol', value: symbol });
      const registry = createFileRegistry(create(FileDescriptorSetSchema, { file }));
      expect(registry.getService('spandrel.v1.TraceService')?.methods.length).toBeGreaterThan(0);
    });

    it('finds files by name, and extensions by number', async () => {
      const named = await filesOf({ case: 'fileByFilename', value: 'spandrel/v1/options.proto' });
      expect(named.at(-1)?.name).toBe('spandrel/v1/options.proto');
      const containingType = 'google.protobuf.MethodOptions';
      const extension = await filesOf({
        case: 'fileContainingExtension',
        value: { containingType, extensionNumber: 50_100 } as never,
      });
      expect(extension.at(-1)?.name).toBe('spandrel/v1/options.proto');
      const numbers = await ask({ case: 'allExtensionNumbersOfType', value: containingType });
      expect(numbers.value).toMatchObject({
        baseTypeName: containingType,
        extensionNumber: expect.arrayContaining([50_100]),
      });
    });

    it.each([
      { case: 'fileByFilename', value: 'etc/passwd' },
      { case: 'fileContainingSymbol', value: 'no.such.Symbol' },
      { case: 'allExtensionNumbersOfType', value: 'no.such.Type' },
    ] as const)('says what it does not know ($case)', async (question) => {
      expect(await ask(question)).toMatchObject({ case: 'errorResponse', value: { errorCode: 5 } });
    });
  },
);

const CURL = [BUF, 'curl', '--http2-prior-knowledge'];

describe('buf curl with only the address', () => {
  it.each(['connect', 'grpc', 'grpcweb'])('calls an rpc (%s)', async (protocol) => {
    const options = ['--protocol', protocol, '--header', `authorization: ${GOOD.authorization}`];
    const { stdout } = await run(process.execPath, [
      ...CURL,
      ...options,
      '--data',
      '{"traceId":"abc"}',
      `${port.address}/spandrel.v1.TraceService/GetTrace`,
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ trace: { traceId: 'abc' } });
  });

  it.each(['grpc-v1', 'grpc-v1alpha'])('queries health by %s', async (reflection) => {
    const options = ['--reflect-protocol', reflection];
    const { stdout } = await run(process.execPath, [
      ...CURL,
      ...options,
      `${port.address}/grpc.health.v1.Health/Check`,
    ]);
    expect(JSON.parse(stdout)).toEqual({ status: 'SERVING' });
  });
});
