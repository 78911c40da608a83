/**
 * The one pipeline: admit, authenticate, authorize, decode, validate, run. Each transport is a thin
 * adapter around it, so no two of them can disagree about who may do what.
 */

import { create, type Message } from '@bufbuild/protobuf';
import { Credential } from '../../gen/spandrel/v1/options_pb.js';
import type { Authenticate } from '../auth/authenticate.ts';
import { authorize, requireClass } from '../auth/authorize.ts';
import { requireOwnOrigin } from '../auth/own-origin.ts';
import type { Caller } from '../domain/caller.ts';
import type { Clock } from '../domain/clock.ts';
import { Fault, type Reason, unavailableFault } from '../domain/fault.ts';
import type { KeyUse } from '../domain/keys/key-use.ts';
import type { Idempotency } from '../domain/management/idempotency.ts';
import type { Refusals } from '../domain/management/refusal-log.ts';
import { actorOf, callerKindOf, credentialOf, refusedAction } from './actor.ts';
import { readIdempotencyKey, runIdempotent } from './idempotency.ts';
import type {
  CallerKind,
  CallIds,
  Context,
  Handler,
  Method,
  Request,
  Run,
  TolerantHandler,
  UnaryMethod,
  UnaryResponse,
} from './method.ts';
import type { RequestQuota } from './quotas.ts';
import { maskProblems } from './update-mask.ts';
import { type Problem, validate } from './validate.ts';

export type Call = {
  readonly transport: 'rest' | 'grpc' | 'connect';
  /** First value of a header or metadata entry; names in lower case. */
  readonly header: (name: string) => string | undefined;
  readonly ids: CallIds;
  /** Where the connection comes from; null once it is gone. */
  readonly remoteAddress: string | null;
  /** Whether the client reached this server, or the trusted proxy before it, over TLS. */
  readonly isSecure: boolean;
  /** The quota that the call uses; begun and finished here. */
  readonly quota: RequestQuota;
  /** Whether the client has disconnected. */
  readonly isDisconnected: () => boolean;
  /** After about how many bytes pages of the answer end; where the rpc ends them by default. */
  readonly answerMaxBytes?: number;
  /** Called as soon as the caller is authenticated. */
  readonly onCaller?: (kind: CallerKind) => void;
  /** The request with its path parameters alone, where they are known before the body is read. */
  readonly pathMessage?: () => Message;
};

/** Reads and decodes the request. Called only once the caller is admitted. */
export type Decode = () => Request | Promise<Request>;

/** Resolves with the response, or rejects with a Fault; any other error inside becomes internal_error. */
export type Invoke = (method: UnaryMethod, call: Call, decode: Decode) => Promise<UnaryResponse>;

export type InvokeDeps = {
  readonly authenticate: Authenticate;
  readonly keyUse: Pick<KeyUse, 'record'>;
  readonly refusals: Pick<Refusals, 'record'>;
  readonly idempotency: Idempotency;
  readonly clock: Clock;
  /** Origins whose pages may use credentials that a browser stores, beside the origin of the requested host. */
  readonly ownOrigins: () => readonly string[];
  /** Resolves in a turn of the event loop of its own. */
  readonly yieldToEventLoop: () => Promise<void>;
  /** False while the process drains. */
  readonly accepting: () => boolean;
  readonly log: {
    error(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
};

const LARGE_RESPONSE_BYTES = 262_144;

export function createInvoke(deps: InvokeDeps): Invoke {
  return async (method, call, decode) => {
    if (!deps.accepting()) throw unavailableFault('The server is shutting down; try again.', 1);
    const startedAtMs = deps.clock();
    try {
      call.quota.begin();
      const admitted = { method, call, decode };
      const response = await admit(deps, admitted, (admission) => run(deps, { ...admitted, ...admission }));
      // Writing a large response takes a while, so the event loop serves other requests first.
      if (call.quota.responseBytes() > LARGE_RESPONSE_BYTES) await deps.yieldToEventLoop();
      if (method.isRead) requireConnected(call);
      return response;
    } catch (error) {
      call.quota.release();
      throw reportFault(deps, { method, call, startedAtMs }, error);
    } finally {
      call.quota.finish();
    }
  };
}

/** Throws where the client has disconnected. */
export function requireConnected({ isDisconnected }: Pick<Call, 'isDisconnected'>): void {
  if (isDisconnected()) throw new Fault('request_timeout', 'The caller left before the answer was there.');
}

/** Turns an unexpected error, which is a bug, into internal_error: the caller gets no details. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault('internal_error', 'An unknown error occurred', { cause: error });
}

/** A call before its caller is authenticated. */
export type Invocation<M extends Method = Method> = {
  readonly method: M;
  readonly call: Call;
  readonly decode: Decode;
};
/** `noteRequest` takes what is known of the request, for the record of a refusal. */
export type Admission = Pick<Context, 'caller' | 'actor'> & { readonly noteRequest: (message: Message) => void };
type Admitted<M extends Method = Method> = Invocation<M> & Admission;

/** Authenticates and authorizes the caller, runs `go`, and records refusals in the audit log. */
export async function admit<T>(
  deps: InvokeDeps,
  { method, call }: Invocation,
  go: (admission: Admission) => Promise<T>,
): Promise<T> {
  const caller = await authenticateCall(deps, method, call);
  const actor = actorOf(caller, call);
  call.onCaller?.(callerKindOf(caller));
  let message: Message | null = null;
  const noteRequest = (seen: Message) => {
    message = seen;
  };
  try {
    if (actor) call.quota.identify(credentialOf(actor));
    if (!method.isRead) requireOwnOrigin(call.header, deps.ownOrigins);
    requireClass(method.policy, caller);
    deps.keyUse.record(caller, deps.clock());
    authorize(method.policy, caller);
    return await go({ caller, actor, noteRequest });
  } catch (error) {
    const action = error instanceof Fault ? refusedAction(method, error, message) : null;
    if (actor && action) deps.refusals.record(actor, action);
    throw error;
  }
}

const OPEN_CALLER: Caller = { kind: 'open' };

/** Authenticates the caller. Throws where the credential is missing or invalid. */
export function authenticateCall(
  { authenticate }: InvokeDeps,
  { policy }: Method,
  { header }: Call,
): Caller | Promise<Caller> {
  return policy.credential === Credential.OPEN ? OPEN_CALLER : authenticate(policy, header);
}

/** Starts the work on a request that was read. Throws for a read whose client has disconnected meanwhile. */
export function takeRequest({ method, call, noteRequest }: Admitted, request: Request): Request {
  call.quota.start();
  // A change continues without its client, which finds it when it repeats the call.
  if (method.isRead) requireConnected(call);
  if (request.kind === 'message') noteRequest(request.message);
  return request;
}

async function run(deps: InvokeDeps, invocation: Admitted<UnaryMethod>): Promise<UnaryResponse> {
  const { method, decode } = invocation;
  const { handler } = method;
  const { pathMessage } = invocation.call;
  const precheck = 'precheck' in handler ? handler.precheck : undefined;
  // Over REST the check runs on the path parameters, so that a refused caller's body is not read.
  if (precheck && pathMessage) await runPrecheck(deps, invocation, precheck, pathMessage());
  const request = takeRequest(invocation, await decode());
  if ('readJson' in handler) {
    const answer = await readTolerantly(handler, request)({ ...contextOf(deps, invocation), receipt: noReceipt });
    return { message: create(method.desc.output, answer), headers: {} };
  }
  const { message, problems } = requireMessage(method, request);
  if (precheck && !pathMessage) await runPrecheck(deps, invocation, precheck, message);
  const handled = { idempotency: deps.idempotency, handler, message, problems };
  return await runHandler(handled, invocation, contextOf(deps, invocation));
}

async function runPrecheck(
  deps: InvokeDeps,
  invocation: Admitted<UnaryMethod>,
  precheck: NonNullable<Handler['precheck']>,
  message: Message,
): Promise<void> {
  invocation.noteRequest(message);
  await precheck(message as never, { ...contextOf(deps, invocation), receipt: noReceipt });
}

/** Throws where the transport read no message for an rpc that takes messages. */
export function requireMessage({ path }: Method, request: Request): Extract<Request, { kind: 'message' }> {
  if (request.kind !== 'message') throw new Error(`${path} takes messages only`);
  return request;
}

function readTolerantly(handler: TolerantHandler, request: Request): Run {
  if (request.kind === 'json') return handler.readJson(request.value, request.facts);
  if (request.kind === 'message') return handler.readMessage(request.message as never);
  if (!handler.readBytes) throw new Error('the rpc takes decoded messages only');
  return handler.readBytes(request.bytes);
}

type HandlerContext = Omit<Context, 'receipt' | 'replay'>;

/** The context that handlers get. */
export function contextOf({ clock }: InvokeDeps, { method, call, caller, actor }: Admitted): HandlerContext {
  const { ids, quota, isSecure, answerMaxBytes = null } = call;
  return {
    caller,
    actor,
    project: caller.kind === 'open' ? null : caller.project,
    organization: caller.kind === 'open' ? null : caller.organization,
    nowMs: clock(),
    ids,
    isSecure,
    responseHeaders: {},
    answerMaxBytes,
    countResponseBytes: method.isRead ? (bytes) => countForRead(call, bytes) : quota.addResponse,
  };
}

/** Handlers of reads count bytes before they load them, so that nothing is loaded for a disconnected client. */
function countForRead(call: Call, bytes: number): void {
  requireConnected(call);
  call.quota.addResponse(bytes);
}

type Handled = Pick<InvokeDeps, 'idempotency'> & ReadMessage & { readonly handler: Handler };
type ReadMessage = { readonly message: Message; readonly problems?: readonly Problem[] | undefined };

async function runHandler(handled: Handled, { method, call }: Invocation<UnaryMethod>, context: HandlerContext) {
  const { idempotency, handler } = handled;
  const message = handled.message as never;
  const completed = call.transport === 'rest' ? [] : (handler.completeMessage?.(message) ?? []);
  const key = readIdempotencyKey(method, call.header);
  const keyProblems = key.kind === 'invalid' ? [key.problem] : [];
  const checked = [...completed, ...(handler.check?.(message, method.desc.input) ?? [])];
  validateRequest({ method, call }, handled, { checked, problems: keyProblems });
  if (key.kind === 'valid') {
    return runIdempotent({ idempotency, method, handler, value: key.value }, message, context);
  }
  const answer = await handler.handle(message, { ...context, receipt: noReceipt });
  return { message: create(method.desc.output, answer), headers: context.responseHeaders };
}

type Found = { readonly checked: readonly Reason[]; readonly problems: readonly Problem[] };

/** Throws validation_error with every problem of a request; `found` are the problems found so far. */
export function validateRequest(
  { method, call }: Pick<Invocation, 'method' | 'call'>,
  request: ReadMessage,
  found: Found,
): void {
  const { message } = request;
  const problems = [
    ...found.problems,
    // Over REST the mask is derived from the body, so it cannot contradict it.
    ...(call.transport === 'rest' ? [] : maskProblems(method.desc, message)),
    ...(request.problems ?? []),
  ];
  validate(method.desc, { message, problems }, found.checked);
}

function noReceipt(): undefined {}

type Failed = Pick<Invocation, 'method' | 'call'> & { readonly startedAtMs: number };

/** The fault for the caller; logs internal errors and refusals for unavailability. */
export function reportFault({ clock, log }: InvokeDeps, { method, call, startedAtMs }: Failed, error: unknown): Fault {
  const fault = toFault(error);
  const durationMs = clock() - startedAtMs;
  const { transport, ids } = call;
  const fields = { rpc: method.path, transport, durationMs, requestId: ids.requestId, code: fault.code };
  if (fault.kind === 'internal_error') log.error({ ...fields, err: fault.cause ?? error }, 'request failed');
  else if (fault.kind === 'unavailable') log.warn({ ...fields, err: fault }, 'request refused');
  return fault;
}
