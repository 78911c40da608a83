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
import { Fault, unavailableFault } from '../domain/fault.ts';
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
} from './method.ts';
import type { RequestQuota } from './quotas.ts';
import { maskProblems } from './update-mask.ts';
import { validate } from './validate.ts';

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
export type Invoke = (method: Method, call: Call, decode: Decode) => Promise<Answered>;

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
      const response = await admit(deps, { method, call, decode });
      // Writing it takes long enough for the loop to see to others before the next one.
      if (call.quota.built() > LARGE_ANSWER_BYTES) await deps.nextTurn();
      if (method.isRead) requireCaller(call);
      return response;
    } catch (error) {
      const fault = toFault(error);
      call.quota.release();
      report(deps, fault, { ...describe(method, call, deps.clock() - startedAtMs), code: fault.code }, error);
      throw fault;
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

type Asked = { readonly method: Method; readonly call: Call; readonly decode: Decode };
type Answering = Omit<Context, 'receipt' | 'replay'>;

/** Proves who calls, and notes what is refused to them. */
async function admit(deps: InvokeDeps, asked: Asked): Promise<Answered> {
  const { policy } = asked.method;
  const caller: Caller =
    policy.credential === Credential.OPEN ? { kind: 'open' } : await deps.authenticate(policy, asked.call.header);
  const actor = actorOf(caller, asked.call);
  asked.call.onCaller?.(kindOf(caller));
  let message: Message | null = null;
  const see = (seen: Message) => {
    message = seen;
  };
  try {
    if (actor) asked.call.quota.identify(credentialOf(actor));
    if (!asked.method.isRead) requireOwnOrigin(asked.call.header, deps.ownOrigins);
    requireClass(policy, caller);
    deps.keyUse.note(caller, deps.clock());
    authorize(policy, caller);
    return await run(deps, asked, { caller, actor, see });
  } catch (error) {
    const deed = error instanceof Fault ? refusedDeed(asked.method, error, message) : null;
    if (actor && deed) deps.refusals.note(actor, deed);
    throw error;
  }
}

/** `see` takes what is known of the request, for whoever notes that it was refused. */
type Asking = Pick<Answering, 'caller' | 'actor'> & { readonly see: (message: Message) => void };

async function run(deps: InvokeDeps, asked: Asked, asking: Asking): Promise<Answered> {
  const { method, call, decode } = asked;
  const { handler } = method;
  const gate = 'gate' in handler ? handler.gate : undefined;
  const pass = async (message: Message) => {
    asking.see(message);
    await gate?.(message as never, { ...contextOf(deps, asked, asking), receipt: noReceipt });
  };
  const { addressed } = call;
  // Who is not let in at the gate does not make the server read a body.
  if (gate && addressed) await pass(addressed());
  const request = await decode();
  call.quota.start();
  // A change goes on whoever leaves: it is to be there once, and asked for again it is found.
  if (method.isRead) requireCaller(call);
  if (request.kind === 'message') asking.see(request.message);
  if (!('readJson' in handler)) {
    if (request.kind !== 'message') throw new Error(`${method.path} takes messages only`);
    if (gate && !addressed) await pass(request.message);
    return runHandler(deps, { method, call, handler, request }, contextOf(deps, asked, asking));
  }
  const answer = await readTolerantly(handler, request)({ ...contextOf(deps, asked, asking), receipt: noReceipt });
  return { message: create(method.desc.output, answer), headers: {} };
}

function readTolerantly(handler: TolerantHandler, request: Request): Run {
  if (request.kind === 'json') return handler.readJson(request.value, request.facts);
  if (request.kind === 'message') return handler.readMessage(request.message as never);
  if (!handler.readBytes) throw new Error('the rpc takes decoded messages only');
  return handler.readBytes(request.bytes);
}

function contextOf({ clock }: InvokeDeps, { method, call }: Asked, { caller, actor }: Asking): Answering {
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

type Handled = {
  readonly method: Method;
  readonly call: Call;
  readonly handler: Handler;
  readonly request: Extract<Request, { kind: 'message' }>;
};

async function runHandler(
  deps: InvokeDeps,
  { method, call, handler, request }: Handled,
  context: Answering,
): Promise<Answered> {
  const message = request.message as never;
  const key = readIdempotencyKey(method, call.header);
  const problems = [
    ...(key.kind === 'invalid' ? [key.problem] : []),
    // Over REST the mask is ours: it names what the body has.
    ...(call.transport === 'rest' ? [] : maskProblems(method.desc, message)),
    ...(request.problems ?? []),
  ];
  validate(method.desc, { message, problems }, handler.check?.(message) ?? []);
  if (key.kind === 'valid') {
    return runOnce({ idempotency: deps.idempotency, method, handler, value: key.value }, message, context);
  }
  const answer = await handler.handle(message, { ...context, receipt: noReceipt });
  return { message: create(method.desc.output, answer), headers: {} };
}

function noReceipt(): undefined {}

function describe(method: Method, call: Call, durationMs: number): object {
  return { rpc: method.path, transport: call.transport, durationMs, requestId: call.ids.requestId };
}

function report(deps: InvokeDeps, fault: Fault, fields: object, error: unknown): void {
  if (fault.kind === 'internal_error') deps.log.error({ ...fields, err: fault.cause ?? error }, 'request failed');
  else if (fault.kind === 'unavailable') deps.log.warn({ ...fields, err: fault }, 'request refused');
}
