/** Compiles services and their handlers into methods. Throws at start for a contract that is incomplete or contradictory. */

import {
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  getOption,
  hasOption,
} from '@bufbuild/protobuf';
import {
  BodyRule,
  Credential,
  ErrorFamily,
  type Policy,
  policy,
  RestStream,
  SizeClass,
} from '../../gen/spandrel/v1/options_pb.js';
import { isPermission, isRequiredAtOrganization, isRequiredBelow } from '../domain/keys/permission-catalogue.ts';
import { checksOf } from './field-rules.ts';
import type { Handler, Implementation, Method, StreamHandler, TolerantHandler, UnaryMethod } from './method.ts';
import { cached, httpRule } from './rest-shape.ts';

const MANAGEMENT_BYTES_MAX = 1_048_576;
const REPORT_BYTES_MAX = 8_388_608;
const EVALUATION_BYTES_MAX = 10_485_760;

export type Sizes = { readonly ingestBytesMax: number };

/** The methods of one service. Throws an Error that names the rpc and what is wrong with it. */
export function compileService<S extends DescService>(
  service: S,
  implementation: Implementation<S>,
  sizes: Sizes,
): Method[] {
  const handlers: Readonly<Record<string, unknown>> = implementation;
  return service.methods.map((desc: DescMethod): Method => {
    const name = `${service.typeName}/${desc.name}`;
    const implemented = handlers[desc.localName];
    const handler = typeof implemented === 'function' ? { handle: implemented } : implemented;
    const rules = readRules(desc, name, sizes);
    switch (desc.methodKind) {
      case 'unary':
        if (!isHandler(handler)) throw new Error(`${name}: no code behind the rpc`);
        if ((rules.policy.body === BodyRule.TOLERANT) !== 'readJson' in handler) {
          throw new Error(`${name}: the body rule and the code behind the rpc disagree`);
        }
        return createUnary({ desc: desc as DescMethodUnary, handler, ...rules });
      case 'server_streaming':
        if (!isStreamHandler(handler)) throw new Error(`${name}: no code behind the rpc`);
        return { kind: 'stream', desc: desc as DescMethodServerStreaming, handler, ...rules };
      default:
        throw new Error(`${name}: only unary and server-streaming rpcs are compiled here`);
    }
  });
}

function createUnary(method: Omit<UnaryMethod, 'kind' | 'inParts'>): UnaryMethod {
  const { handler, desc } = method;
  if (!('openParts' in handler) || handler.openParts === undefined) return { kind: 'unary', ...method };
  const asStream: DescMethodServerStreaming = { ...desc, methodKind: 'server_streaming' };
  const inParts = { ...method, kind: 'stream' as const, desc: asStream, handler: { open: handler.openParts } };
  return { kind: 'unary', ...method, inParts };
}

function isHandler(value: unknown): value is Handler | TolerantHandler {
  return typeof value === 'object' && value !== null && ('handle' in value || 'readJson' in value);
}

function isStreamHandler(value: unknown): value is StreamHandler {
  return typeof value === 'object' && value !== null && 'open' in value;
}

const policyOf = cached((desc: DescMethod): Policy => getOption(desc, policy));

/** The rules of an rpc in the contract. */
function readRules(desc: DescMethod, name: string, sizes: Sizes) {
  if (!hasOption(desc, policy)) throw new Error(`${name}: the rpc has no policy`);
  const route = httpRule(desc).pattern.case;
  if (route === undefined) throw new Error(`${name}: the rpc has no google.api.http route`);
  const rules = policyOf(desc);
  if (rules.credential === Credential.UNSPECIFIED) throw new Error(`${name}: the policy names no credential class`);
  if (rules.errors === ErrorFamily.UNSPECIFIED) throw new Error(`${name}: the policy names no error family`);
  if (rules.successStatus < 200 || rules.successStatus > 299) throw new Error(`${name}: the success status is not 2xx`);
  if (!permissionFits(rules)) {
    throw new Error(`${name}: the permission "${rules.permission}" does not fit the policy`);
  }
  if (rules.idempotent && (rules.credential !== Credential.ORGANIZATION || rules.body === BodyRule.TOLERANT)) {
    throw new Error(`${name}: idempotency keys need API keys as credentials and a body rule that is not tolerant`);
  }
  checkStream(desc, name, rules);
  if (rules.projectKeys && rules.credential !== Credential.ORGANIZATION) {
    throw new Error(`${name}: project keys may be admitted only where API keys are required`);
  }
  checksOf(desc.input);
  return { path: `/${name}`, policy: rules, isRead: route === 'get', sizeMaxBytes: sizeMaxOf(rules.size, sizes) };
}

function checkStream({ methodKind }: DescMethod, name: string, { stream, idempotent, legacy, body }: Policy): void {
  const isStream = methodKind === 'server_streaming';
  if (isStream === (stream === RestStream.UNSPECIFIED)) {
    throw new Error(`${name}: the policy must name the REST format of a stream of responses, and only of a stream`);
  }
  if (isStream && (idempotent || legacy.length > 0 || body === BodyRule.TOLERANT)) {
    throw new Error(
      `${name}: a stream of responses takes no idempotency key, has no legacy routes, and validates its request as a whole`,
    );
  }
}

function sizeMaxOf(size: SizeClass, { ingestBytesMax }: Sizes): number {
  switch (size) {
    case SizeClass.INGEST:
      return ingestBytesMax;
    case SizeClass.REPORT:
      return REPORT_BYTES_MAX;
    case SizeClass.EVALUATION:
      return EVALUATION_BYTES_MAX;
    default:
      return MANAGEMENT_BYTES_MAX;
  }
}

/**
 * An rpc for organization keys may check permissions in its handler, and names them in `asks`. A permission is required
 * only where the ceiling of grants compares it.
 */
function permissionFits({ credential, permission, asks }: Policy): boolean {
  if (asks.length > 0) return credential === Credential.ORGANIZATION && permission === '' && asks.every(isPermission);
  if (permission === '') return true;
  switch (credential) {
    case Credential.ORGANIZATION:
      return isRequiredAtOrganization(permission);
    case Credential.PROJECT:
      return isRequiredBelow(permission);
    default:
      return false;
  }
}
