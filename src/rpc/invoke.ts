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
import type { Idempotency } from '../domain/idempotency.ts';
import type { KeyUse } from '../domain/key-use.ts';
import type { Refusals } from '../domain/refusals.ts';
import { actorOf, credentialOf, kindOf, refusedDeed } from './actor.ts';
import { readIdempotencyKey, runOnce } from './idempotency.ts';
import type {
  Answered,
  CallerKind,
  CallIds,
  Context,
  Handler,
  Method,
  Request,
  Run,
  TolerantHandler,
  UnaryMethod,
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
  /** What the call holds while it is served; begun and finished here. */
  readonly quota: RequestQuota;
  /** Whether nobody waits for the answer any more. */
  readonly hasLeft: () => boolean;
  /** Told as soon as the credential is proven. */
  readonly onCaller?: (kind: CallerKind) => void;
  /** The request as far as its path tells it, where that is known before the body is read. */
  readonly addressed?: () => Message;
};

/** Reads and decodes the request. Called only once the caller is admitted. */
export type Decode = () => Request | Promise<Request>;

/** Answers the response, or throws a Fault; anything else thrown inside becomes internal_error. */
export type Invoke = (method: UnaryMethod, call: Call, decode: Decode) => Promise<Answered>;

export type InvokeDeps = {
  readonly authenticate: Authenticate;
  readonly keyUse: Pick<KeyUse, 'note'>;
  readonly refusals: Pick<Refusals, 'note'>;
  readonly idempotency: Idempotency;
  readonly clock: Clock;
  /** Whose pages may use credentials that a browser remembers, beside those of the host that was asked. */
  readonly ownOrigins: () => readonly string[];
  /** Resolves in a turn of the event loop that nobody else was given. */
  readonly nextTurn: () => Promise<void>;
  /** False while the process drains. */
  readonly accepting: () => boolean;
  readonly log: {
    error(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
};

const LARGE_ANSWER_BYTES = 262_144;

export function createInvoke(deps: InvokeDeps): Invoke {
  return async (method, call, decode) => {
    if (!deps.accepting()) throw unavailableFault('The server is shutting down; try again.', 1);
    const startedAtMs = deps.clock();
    try {
      call.quota.begin();
      const admitted = { method, call, decode };
      const response = await admit(deps, admitted, (admission) => run(deps, { ...admitted, ...admission }));
      // Writing it takes long enough for the loop to see to others before the next one.
      if (call.quota.built() > LARGE_ANSWER_BYTES) await deps.nextTurn();
      if (method.isRead) requireCaller(call);
      return response;
    } catch (error) {
      call.quota.release();
      throw reportFault(deps, { method, call, startedAtMs }, error);
    } finally {
      call.quota.finish();
    }
  };
}

/** Throws where nobody waits for the answer any more. */
export function requireCaller({ hasLeft }: Pick<Call, 'hasLeft'>): void {
  if (hasLeft()) throw new Fault('request_timeout', 'The caller left before the answer was there.');
}

/** Anything that is not an expected failure is a bug: the caller learns nothing of it. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault('internal_error', 'An unknown error occurred', { cause: error });
}

/** What is asked for, before anything is known of who asks. */
export type Asked<M extends Method = Method> = {
  readonly method: M;
  readonly call: Call;
  readonly decode: Decode;
};
/** `see` takes what is known of the request, for whoever notes that it was refused. */
export type Admission = Pick<Context, 'caller' | 'actor'> & { readonly see: (message: Message) => void };
type Admitted<M extends Method = Method> = Asked<M> & Admission;

/** Proves who calls, lets `go` do what is asked for, and notes what is refused to the caller. */
export async function admit<T>(
  deps: InvokeDeps,
  { method, call }: Asked,
  go: (admission: Admission) => Promise<T>,
): Promise<T> {
  const caller = await prove(deps, method, call);
  const actor = actorOf(caller, call);
  call.onCaller?.(kindOf(caller));
  let message: Message | null = null;
  const see = (seen: Message) => {
    message = seen;
  };
  try {
    if (actor) call.quota.identify(credentialOf(actor));
    if (!method.isRead) requireOwnOrigin(call.header, deps.ownOrigins);
    requireClass(method.policy, caller);
    deps.keyUse.note(caller, deps.clock());
    authorize(method.policy, caller);
    return await go({ caller, actor, see });
  } catch (error) {
    const deed = error instanceof Fault ? refusedDeed(method, error, message) : null;
    if (actor && deed) deps.refusals.note(actor, deed);
    throw error;
  }
}

/** Who calls. Throws where the credential proves nobody. */
export async function prove({ authenticate }: InvokeDeps, { policy }: Method, { header }: Call): Promise<Caller> {
  return policy.credential === Credential.OPEN ? { kind: 'open' } : await authenticate(policy, header);
}

/** The request, once it has arrived and somebody still waits for what comes of it. */
export async function readRequest({ method, call, decode, see }: Admitted): Promise<Request> {
  const request = await decode();
  call.quota.start();
  // A change goes on whoever leaves: it is to be there once, and asked for again it is found.
  if (method.isRead) requireCaller(call);
  if (request.kind === 'message') see(request.message);
  return request;
}

async function run(deps: InvokeDeps, asked: Admitted<UnaryMethod>): Promise<Answered> {
  const { method, call } = asked;
  const { handler } = method;
  const gate = 'gate' in handler ? handler.gate : undefined;
  const pass = async (message: Message) => {
    asked.see(message);
    await gate?.(message as never, { ...contextOf(deps, asked), receipt: noReceipt });
  };
  const { addressed } = call;
  // Who is not let in at the gate does not make the server read a body.
  if (gate && addressed) await pass(addressed());
  const request = await readRequest(asked);
  if ('readJson' in handler) return runTolerant(deps, asked, handler, request);
  const { message, problems } = requireMessage(method, request);
  if (gate && !addressed) await pass(message);
  return runHandler({ idempotency: deps.idempotency, handler, message, problems }, asked, contextOf(deps, asked));
}

/** Throws where something else was read for an rpc that takes messages. */
export function requireMessage({ path }: Method, request: Request): Extract<Request, { kind: 'message' }> {
  if (request.kind !== 'message') throw new Error(`${path} takes messages only`);
  return request;
}

async function runTolerant(
  deps: InvokeDeps,
  asked: Admitted<UnaryMethod>,
  handler: TolerantHandler,
  request: Request,
): Promise<Answered> {
  const answer = await readTolerantly(handler, request)({ ...contextOf(deps, asked), receipt: noReceipt });
  return { message: create(asked.method.desc.output, answer), headers: {} };
}

function readTolerantly(handler: TolerantHandler, request: Request): Run {
  if (request.kind === 'json') return handler.readJson(request.value, request.facts);
  if (request.kind === 'message') return handler.readMessage(request.message as never);
  if (!handler.readBytes) throw new Error('the rpc takes decoded messages only');
  return handler.readBytes(request.bytes);
}

type Answering = Omit<Context, 'receipt' | 'replay'>;

/** What the code behind an rpc may know of the call. */
export function contextOf({ clock }: InvokeDeps, { method, call, caller, actor }: Admitted): Answering {
  const { ids, quota } = call;
  return {
    caller,
    actor,
    project: caller.kind === 'open' ? null : caller.project,
    organization: caller.kind === 'open' ? null : caller.organization,
    nowMs: clock(),
    ids,
    countAnswer: method.isRead ? (bytes) => countWanted(call, bytes) : quota.build,
  };
}

/** Code behind reads counts before it loads, so that nothing is loaded for nobody. */
function countWanted(call: Call, bytes: number): void {
  requireCaller(call);
  call.quota.build(bytes);
}

type Handled = Pick<InvokeDeps, 'idempotency'> & ReadMessage & { readonly handler: Handler };
type ReadMessage = { readonly message: Message; readonly problems?: readonly Problem[] | undefined };

async function runHandler(handled: Handled, { method, call }: Asked<UnaryMethod>, context: Answering) {
  const { idempotency, handler } = handled;
  const message = handled.message as never;
  const key = readIdempotencyKey(method, call.header);
  const keyProblems = key.kind === 'invalid' ? [key.problem] : [];
  validateRequest({ method, call }, handled, { checked: handler.check?.(message) ?? [], problems: keyProblems });
  if (key.kind === 'valid') {
    return runOnce({ idempotency, method, handler, value: key.value }, message, context);
  }
  const answer = await handler.handle(message, { ...context, receipt: noReceipt });
  return { message: create(method.desc.output, answer), headers: {} };
}

type Found = { readonly checked: readonly Reason[]; readonly problems: readonly Problem[] };

/** Throws validation_error with everything that is wrong with a request; `found` is what others have found out. */
export function validateRequest(
  { method, call }: Pick<Asked, 'method' | 'call'>,
  request: ReadMessage,
  found: Found,
): void {
  const { message } = request;
  const problems = [
    ...found.problems,
    // Over REST the mask is ours: it names what the body has.
    ...(call.transport === 'rest' ? [] : maskProblems(method.desc, message)),
    ...(request.problems ?? []),
  ];
  validate(method.desc, { message, problems }, found.checked);
}

function noReceipt(): undefined {}

type Failed = Pick<Asked, 'method' | 'call'> & { readonly startedAtMs: number };

/** What the caller is told; what its operator should know is logged. */
export function reportFault({ clock, log }: InvokeDeps, { method, call, startedAtMs }: Failed, error: unknown): Fault {
  const fault = toFault(error);
  const durationMs = clock() - startedAtMs;
  const { transport, ids } = call;
  const fields = { rpc: method.path, transport, durationMs, requestId: ids.requestId, code: fault.code };
  if (fault.kind === 'internal_error') log.error({ ...fields, err: fault.cause ?? error }, 'request failed');
  else if (fault.kind === 'unavailable') log.warn({ ...fields, err: fault }, 'request refused');
  return fault;
}
