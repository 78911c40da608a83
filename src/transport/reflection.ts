/** Server reflection, v1 and v1alpha: generic clients read the contract from the server itself. */

import { type DescFile, type DescMessage, type DescService, toBinary } from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { ServerReflectionRequest } from '../../gen/grpc/reflection/v1/reflection_pb.js';
import { Fault } from '../domain/fault.ts';

type ReflectionRequest = ServerReflectionRequest['messageRequest'];

/** Serves one request. The same in both versions of the protocol, whose messages differ in name only. */
type Reflection = (request: ReflectionRequest) => ReflectionResponse;

type ReflectionResponse =
  | { readonly case: 'fileDescriptorResponse'; readonly value: { fileDescriptorProto: Uint8Array[] } }
  | {
      readonly case: 'allExtensionNumbersResponse';
      readonly value: { baseTypeName: string; extensionNumber: number[] };
    }
  | { readonly case: 'listServicesResponse'; readonly value: { service: { name: string }[] } }
  | { readonly case: 'errorResponse'; readonly value: { errorCode: number; errorMessage: string } };

/** More than a client needs to read the whole contract symbol by symbol. */
const REQUESTS_MAX = 200;
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;

/** Reflects `services`, with every file they need. */
export function createReflection(services: readonly DescService[]): Reflection {
  const index = indexFiles(services.map((service) => service.file));
  return (request) => {
    switch (request.case) {
      case 'listServices':
        return { case: 'listServicesResponse', value: { service: services.map(({ typeName: name }) => ({ name })) } };
      case 'fileByFilename':
        return fileResponse(index.byName.get(request.value), request.value);
      case 'fileContainingSymbol':
        return fileResponse(index.bySymbol.get(request.value), request.value);
      case 'fileContainingExtension': {
        const { containingType, extensionNumber } = request.value;
        const file = index.byExtension.get(containingType)?.get(extensionNumber);
        return fileResponse(file, `${containingType} extension ${extensionNumber}`);
      }
      case 'allExtensionNumbersOfType':
        return extensionsResponse(index, request.value);
      default:
        return errorResponse(INVALID_ARGUMENT, 'The request asks nothing.');
    }
  };
}

/** Responds to each request of a stream before it reads the next. */
export async function* answerRequests(reflect: Reflection, requests: AsyncIterable<ServerReflectionRequest>) {
  let count = 0;
  for await (const request of requests) {
    count += 1;
    if (count > REQUESTS_MAX) throw new Fault('rate_limited', `A stream takes ${REQUESTS_MAX} requests; open another.`);
    yield {
      validHost: request.host,
      originalRequest: request,
      messageResponse: reflect(request.messageRequest),
    };
  }
}

/** The response for one file and all its imports. Reflection needs no credential, so each response is built once and cached. */
type FileResponse = () => ReflectionResponse;

type Index = {
  readonly byName: Map<string, FileResponse>;
  readonly bySymbol: Map<string, FileResponse>;
  /** Extended type -> field number -> the file of the extension. */
  readonly byExtension: Map<string, Map<number, FileResponse>>;
};

function indexFiles(roots: readonly DescFile[]): Index {
  const index: Index = { byName: new Map(), bySymbol: new Map(), byExtension: new Map() };
  const serialise = serialiseOnce();
  for (const file of roots.flatMap(withDependencies)) {
    const { name } = file.proto;
    if (index.byName.has(name)) continue;
    const answer = cacheResponse(file, serialise);
    index.byName.set(name, answer);
    for (const type of nestedTypes(file)) {
      for (const symbol of symbolsOf(type)) index.bySymbol.set(symbol, answer);
      if (type.kind !== 'extension') continue;
      const numbers = index.byExtension.get(type.extendee.typeName) ?? new Map<number, FileResponse>();
      index.byExtension.set(type.extendee.typeName, numbers.set(type.number, answer));
    }
  }
  return index;
}

type Serialise = (file: DescFile) => Uint8Array;

function serialiseOnce(): Serialise {
  const kept = new Map<DescFile, Uint8Array>();
  return (file) => {
    const bytes = kept.get(file) ?? toBinary(FileDescriptorProtoSchema, file.proto);
    kept.set(file, bytes);
    return bytes;
  };
}

function cacheResponse(file: DescFile, serialise: Serialise): FileResponse {
  let kept: ReflectionResponse | null = null;
  return () => {
    kept ??= {
      case: 'fileDescriptorResponse',
      value: { fileDescriptorProto: withDependencies(file).map(serialise) },
    };
    return kept;
  };
}

/** A file after everything it imports, each once. */
function withDependencies(file: DescFile): readonly DescFile[] {
  return [...new Set([...file.dependencies.flatMap(withDependencies), file])];
}

type NestedType = ReturnType<typeof nestedTypes> extends Iterable<infer T> ? T : never;

function symbolsOf(type: NestedType): readonly string[] {
  if (type.kind === 'service') return [type.typeName, ...type.methods.map(({ name }) => `${type.typeName}.${name}`)];
  if (type.kind === 'message') return [type.typeName, ...memberNames(type)];
  return [type.typeName];
}

function memberNames({ typeName, fields, oneofs }: DescMessage): readonly string[] {
  return [...fields, ...oneofs].map(({ name }) => `${typeName}.${name}`);
}

function fileResponse(answer: FileResponse | undefined, name: string): ReflectionResponse {
  return answer?.() ?? errorResponse(NOT_FOUND, `${name} is not known here.`);
}

function extensionsResponse({ byExtension, bySymbol }: Index, typeName: string): ReflectionResponse {
  if (!bySymbol.has(typeName)) return errorResponse(NOT_FOUND, `${typeName} is not known here.`);
  const extensionNumber = [...(byExtension.get(typeName)?.keys() ?? [])];
  return { case: 'allExtensionNumbersResponse', value: { baseTypeName: typeName, extensionNumber } };
}

function errorResponse(errorCode: number, errorMessage: string): ReflectionResponse {
  return { case: 'errorResponse', value: { errorCode, errorMessage } };
}
