/**
 * The one pipeline: admit, authenticate, authorize, decode, validate, run. Each transport is a thin
 * adapter around it, so no two of them can disagree about who may do what.
 */

import { create, type Message } from '@bufbuild/protobuf';
import { Credential } from '../../gen/spandrel/v1/options_pb.js';
import type { Authenticate } from '../auth/authenticate.ts';
import { authorize } from '../auth/authorize.ts';
import type { Clock } from '../domain/clock.ts';
import { Fault, unavailableFault } from '../domain/fault.ts';
import type { CallIds, Context, Method, Request } from './method.ts';
import { validate } from './validate.ts';

export type Call = {
  readonly transport: 'rest' | 'grpc' | 'connect';
  /** First value of a header or metadata entry; names in lower case. */
  readonly header: (name: string) => string | undefined;
  readonly ids: CallIds;
};

/** Reads and decodes the request. Called only once the caller is admitted. */
export type Decode = () => Request | Promise<Request>;

/** Answers the response message, or throws a Fault; anything else thrown inside becomes internal_error. */
export type Invoke = (method: Method, call: Call, decode: Decode) => Promise<Message>;

export type InvokeDeps = {
  readonly authenticate: Authenticate;
  readonly clock: Clock;
  /** Requests in progress beyond which new ones are refused at once. */
  readonly inFlightMax: number;
  /** False while the process drains. */
  readonly accepting: () => boolean;
  readonly log: {
    error(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    debug(fields: object, message: string): void;
    isLevelEnabled(level: string): boolean;
  };
};

export function createInvoke(deps: InvokeDeps): Invoke {
  let inFlight = 0;
  return async (method, call, decode) => {
    if (!deps.accepting()) throw unavailableFault('The server is shutting down; try again.', 1);
    if (inFlight >= deps.inFlightMax) throw unavailableFault('Too many requests are in progress; try again.', 1);
    inFlight += 1;
    const startedAtMs = deps.clock();
    try {
      const response = await run(deps, method, call, decode);
      if (deps.log.isLevelEnabled('debug'))
        deps.log.debug(describe(method, call, deps.clock() - startedAtMs), 'request');
      return response;
    } catch (error) {
      const fault = toFault(error);
      report(deps, fault, { ...describe(method, call, deps.clock() - startedAtMs), code: fault.code }, error);
      throw fault;
    } finally {
      inFlight -= 1;
    }
  };
}

/** Anything that is not an expected failure is a bug: the caller learns nothing of it. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault('internal_error', 'An unknown error occurred', { cause: error });
}

async function run(deps: InvokeDeps, method: Method, call: Call, decode: Decode): Promise<Message> {
  const { policy, handler } = method;
  const caller =
    policy.credential === Credential.OPEN
      ? ({ kind: 'open' } as const)
      : await deps.authenticate(policy.credential, call.header);
  authorize(policy, caller);
  const request = await decode();
  const context: Context = {
    caller,
    project: caller.kind === 'open' ? null : caller.project,
    organization: caller.kind === 'open' ? null : caller.organization,
    nowMs: deps.clock(),
    ids: call.ids,
  };
  if ('handleJson' in handler) {
    const { value, facts } = request.kind === 'json' ? request : handler.toJson(request.message as never);
    return create(method.desc.output, await handler.handleJson(value, facts, context));
  }
  if (request.kind === 'json') throw new Error(`${method.path} does not take bare JSON`);
  validate(method.desc, request, handler.check?.(request.message as never) ?? []);
  return create(method.desc.output, await handler.handle(request.message as never, context));
}

function describe(method: Method, call: Call, durationMs: number): object {
  return { rpc: method.path, transport: call.transport, durationMs, requestId: call.ids.requestId };
}

function report(deps: InvokeDeps, fault: Fault, fields: object, error: unknown): void {
  if (fault.kind === 'internal_error') deps.log.error({ ...fields, err: fault.cause ?? error }, 'request failed');
  else if (fault.kind === 'unavailable') deps.log.warn({ ...fields, err: fault.cause }, 'request refused');
  else deps.log.debug(fields, 'request refused');
}
