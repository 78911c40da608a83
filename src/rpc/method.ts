/** An rpc as the pipeline sees it: its descriptor, its policy and its handler. */

import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  Message,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import type { Policy } from '../../gen/spandrel/v1/options_pb.js';
import type { Caller, Organization, Project } from '../domain/caller.ts';
import type { Fault, JsonValue, Reason } from '../domain/fault.ts';
import type { Actor } from '../domain/management/audit.ts';
import type { Receipt } from '../domain/management/management.ts';
import type { DraftFacts } from '../domain/traces/collector/collector-draft.ts';
import type { Spelling } from '../json/json-text.ts';
import type { Problem } from './validate.ts';

/** What a transport hands to the pipeline once the caller is admitted. */
export type Request =
  | {
      readonly kind: 'message';
      readonly message: Message;
      /** Problems found while decoding; reported together with the broken rules. */
      readonly problems?: readonly Problem[];
    }
  /** Only for rpcs whose policy says BODY_RULE_TOLERANT. */
  | { readonly kind: 'json'; readonly value: JsonValue; readonly facts: JsonFacts }
  /** An encoded message, only for rpcs that read it themselves. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

/** Facts about a JSON body that the parser collects. */
export type JsonFacts = DraftFacts;

/** The ids of one call, as headers and error bodies show them. Empty trace ids: tracing is off. */
export type CallIds = { readonly requestId: string; readonly traceId: string; readonly spanId: string };

/** The kind of caller, without its identity. `none`: the caller was not authenticated. */
export type CallerKind = 'none' | 'open' | 'project_key' | 'personal_key' | 'service_key' | 'virtual_key' | 'session';

/** What a handler knows of the call. */
export type Context<M extends DescMethodUnary = DescMethodUnary> = {
  readonly caller: Caller;
  /** The caller as the audit log names it; null for open calls. */
  readonly actor: Actor | null;
  /** The project of the call; set on project routes, where the policy has checked it. */
  readonly project: Project | null;
  readonly organization: Organization | null;
  readonly nowMs: number;
  readonly ids: CallIds;
  /** Whether the client came over TLS. */
  readonly isSecure: boolean;
  /** Headers that a handler adds to its response. */
  readonly responseHeaders: Record<string, string>;
  /**
   * Counts bytes of a response before they are loaded. Throws the unavailable Fault where there is no room, and a Fault
   * for a read whose client has disconnected.
   */
  countResponseBytes(bytes: number): void;
  /** After about how many bytes pages of an answer end; null: where the rpc ends them. */
  readonly answerMaxBytes: number | null;
  /**
   * The receipt to store in the transaction of the effect, so that a repeated call can be replayed; undefined where the
   * caller sent no idempotency key. `answer` is the response of the call.
   */
  receipt(answer: MessageInitShape<M['output']>): Receipt | undefined;
  /** Set for a call that already has a response under the same idempotency key. */
  readonly replay?: {
    readonly answer: MessageShape<M['output']>;
    /** Ends the call with that response. Handlers call it after they have authorized the caller, before any effect. */
    readonly pass: () => never;
  };
};

/** The response of a unary call. */
export type UnaryResponse = {
  readonly message: Message;
  /** Additional headers, by lower-case name: headers over REST, initial metadata over RPC. */
  readonly headers: { readonly [name: string]: string };
};

/** The handler of one rpc. */
export type Handler<M extends DescMethodUnary = DescMethodUnary> = {
  /**
   * Refuses a caller because of stored data, before the fields of the request are validated: a caller that may not see
   * the record in the path does not find out whether the rest of the request was valid. Over REST the request holds
   * only its path parameters, because its body has not been read.
   */
  readonly precheck?: (request: MessageShape<M['input']>, context: Context<M>) => Promise<void>;
  /** Sets fields that a message implies, and returns the problems that only messages can have. Not called over REST. */
  readonly completeMessage?: (request: MessageShape<M['input']>) => readonly Reason[];
  /** Problems no field rule can express; reported together with those that one can. `input` describes the request. */
  readonly check?: (request: MessageShape<M['input']>, input: M['input']) => readonly Reason[];
  readonly handle: (request: MessageShape<M['input']>, context: Context<M>) => Promise<MessageInitShape<M['output']>>;
  /**
   * Opens the whole response in parts, for a bare list that may be larger than memory: over REST its parts are written as a
   * stream is, in place of what `handle` returns.
   */
  readonly openParts?: (
    request: MessageShape<M['input']>,
    context: StreamContext,
  ) => Promise<AsyncIterator<MessageInitShape<M['output']>, unknown>>;
};

/** The rest of a handler, after it has read the request. */
export type Run<M extends DescMethodUnary = DescMethodUnary> = (
  context: Context<M>,
) => Promise<MessageInitShape<M['output']>>;

/** The handler of an rpc that validates its request item by item: it reads messages and JSON into drafts of its own. */
export type TolerantHandler<M extends DescMethodUnary = DescMethodUnary> = {
  readonly readMessage: (request: MessageShape<M['input']>) => Run<M>;
  /** Reads an encoded message, where that is faster than decoding it first. */
  readonly readBytes?: (bytes: Uint8Array) => Run<M>;
  readonly readJson: (body: JsonValue, facts: JsonFacts) => Run<M>;
  /** How numbers of a JSON body are represented. */
  readonly spelling: Spelling;
  /** Whether a JSON body is accepted with any media type. */
  readonly anyMediaType?: boolean;
  /** Replaces the refusal of an unreadable body by one of the operation. */
  readonly reword?: (fault: Fault) => Fault;
};

/** What the handler of a stream knows of the call. */
type StreamContext = Omit<Context, 'receipt' | 'replay'> & {
  /** Aborts as soon as the stream ends, for any reason. */
  readonly signal: AbortSignal;
};

/** The handler of an rpc that streams its responses. */
export type StreamHandler<M extends DescMethodServerStreaming = DescMethodServerStreaming> = {
  /** Problems no field rule can express; reported together with those that one can. */
  readonly check?: (request: MessageShape<M['input']>) => readonly Reason[];
  /**
   * Opens the stream. An error it throws becomes the response, as for any other rpc; an error of the iterator ends the
   * stream. The next response is requested when the client has read the one before; bytes passed to
   * `countResponseBytes` since then count until that next response is read.
   */
  readonly open: (
    request: MessageShape<M['input']>,
    context: StreamContext,
  ) => Promise<AsyncIterator<MessageInitShape<M['output']>, unknown>>;
  /** Whether the stream mostly waits: then it does not count as a request in progress, and has limits of its own. */
  readonly isIdle?: boolean;
};

/** The handlers of a service: a missing rpc does not compile. A function is the `handle` of an rpc that needs nothing else. */
export type Implementation<S extends DescService> = {
  readonly [K in keyof S['method']]: S['method'][K] extends DescMethodUnary
    ? Handler<S['method'][K]> | Handler<S['method'][K]>['handle'] | TolerantHandler<S['method'][K]>
    : S['method'][K] extends DescMethodServerStreaming
      ? StreamHandler<S['method'][K]>
      : never;
};

/** One rpc, compiled at start. */
export type Method = UnaryMethod | StreamMethod;

export type UnaryMethod = MethodBase & {
  readonly kind: 'unary';
  readonly desc: DescMethodUnary;
  readonly handler: Handler | TolerantHandler;
  /** The same rpc as a stream, for transports that write its response in parts. */
  readonly inParts?: StreamMethod;
  /** The paths of rpcs that OpenTelemetry declares, which have no route in their protos. */
  readonly otlpPaths?: readonly string[];
};

export type StreamMethod = MethodBase & {
  readonly kind: 'stream';
  readonly desc: DescMethodServerStreaming;
  readonly handler: StreamHandler;
};

type MethodBase = {
  /** "/spandrel.v1.TraceService/GetTrace". */
  readonly path: string;
  readonly policy: Policy;
  /** A read can be repeated without harm; the response to a change must reach the client. */
  readonly isRead: boolean;
  /** Largest request, on the wire and decoded, bytes. */
  readonly sizeMaxBytes: number;
};
