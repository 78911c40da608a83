/** An rpc as the pipeline sees it: its descriptor, its policy and the code behind it. */

import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  Message,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import type { Policy } from '../../gen/spandrel/v1/options_pb.js';
import type { Actor } from '../domain/audit.ts';
import type { Caller, Organization, Project } from '../domain/caller.ts';
import type { DraftFacts } from '../domain/collector-draft.ts';
import type { Fault, JsonValue, Reason } from '../domain/fault.ts';
import type { Spelling } from '../domain/json-text.ts';
import type { Receipt } from '../domain/management.ts';
import type { Problem } from './validate.ts';

/** What a transport hands to the pipeline once the caller is admitted. */
export type Request =
  | {
      readonly kind: 'message';
      readonly message: Message;
      /** What could not be read into the message; reported together with the broken rules. */
      readonly problems?: readonly Problem[];
    }
  /** Only for rpcs whose policy says BODY_RULE_TOLERANT. */
  | { readonly kind: 'json'; readonly value: JsonValue; readonly facts: JsonFacts }
  /** An encoded message, only for rpcs that read it themselves. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

/** What reading the bytes of a body found out. */
export type JsonFacts = DraftFacts;

/** The ids of one call, as headers and error bodies show them. Empty trace ids: tracing is off. */
export type CallIds = { readonly requestId: string; readonly traceId: string; readonly spanId: string };

/** Who a call turned out to come from, without telling who that is. `none`: nobody was proven. */
export type CallerKind = 'none' | 'open' | 'project_key' | 'personal_key' | 'service_key';

/** What code behind an rpc may know of the call. */
export type Context<M extends DescMethodUnary = DescMethodUnary> = {
  readonly caller: Caller;
  /** The caller as the audit log names it; null for open calls. */
  readonly actor: Actor | null;
  /** The project of the call; only on project routes, checked before. */
  readonly project: Project | null;
  readonly organization: Organization | null;
  readonly nowMs: number;
  readonly ids: CallIds;
  /**
   * Counts bytes of an answer before they are loaded. Throws the unavailable Fault where there is no room, and a Fault
   * of a read whose caller has left.
   */
  countAnswer(bytes: number): void;
  /**
   * What must be stored in the transaction of the effect, so that the call can be repeated; undefined when the caller
   * asked for no such thing. `answer` is the answer the effect leads to.
   */
  receipt(answer: MessageInitShape<M['output']>): Receipt | undefined;
  /** Only of a call that was answered before under the same idempotency key. */
  readonly replay?: {
    readonly answer: MessageShape<M['output']>;
    /** Ends the call with that answer. Called once the caller is judged again, before there is any effect. */
    readonly pass: () => never;
  };
};

/** What a call is answered with. */
export type Answered = {
  readonly message: Message;
  /** Beside those every answer has, by lower-case name: headers over REST, initial metadata over RPC. */
  readonly headers: { readonly [name: string]: string };
};

/** The code behind one rpc. */
export type Handler<M extends DescMethodUnary = DescMethodUnary> = {
  /**
   * Refuses a caller for reasons that only stored data knows, before the fields of the request are judged: where a
   * path names what the caller may not see, nobody learns how else the request was wrong. Over REST the request holds
   * no more than the path says, because its body has not been read.
   */
  readonly gate?: (request: MessageShape<M['input']>, context: Context<M>) => Promise<void>;
  /** Problems no field rule can express; reported together with those that one can. */
  readonly check?: (request: MessageShape<M['input']>) => readonly Reason[];
  readonly handle: (request: MessageShape<M['input']>, context: Context<M>) => Promise<MessageInitShape<M['output']>>;
};

/** What is left to do once a request has been read. */
export type Run<M extends DescMethodUnary = DescMethodUnary> = (
  context: Context<M>,
) => Promise<MessageInitShape<M['output']>>;

/** The code behind an rpc that judges its request item by item: it reads messages and JSON into drafts of its own. */
export type TolerantHandler<M extends DescMethodUnary = DescMethodUnary> = {
  readonly readMessage: (request: MessageShape<M['input']>) => Run<M>;
  /** Reads an encoded message, where that costs less than to decode it first. */
  readonly readBytes?: (bytes: Uint8Array) => Run<M>;
  readonly readJson: (body: JsonValue, facts: JsonFacts) => Run<M>;
  /** How numbers come out of a JSON body. */
  readonly spelling: Spelling;
  /** Whether JSON is taken for what it is whatever type it is declared as. */
  readonly anyMediaType?: boolean;
  /** Gives the refusal of an unreadable body the wording of the operation. */
  readonly reword?: (fault: Fault) => Fault;
};

/** What code behind an rpc that streams may know of the call. */
export type StreamContext = Omit<Context, 'receipt' | 'replay'> & {
  /** Aborts as soon as nobody takes the answers any more, for whatever reason. */
  readonly signal: AbortSignal;
};

/** The code behind an rpc that answers again and again. */
export type StreamHandler<M extends DescMethodServerStreaming = DescMethodServerStreaming> = {
  /** Problems no field rule can express; reported together with those that one can. */
  readonly check?: (request: MessageShape<M['input']>) => readonly Reason[];
  /**
   * Begins to answer. What it throws is answered as by any other rpc; what the answers throw ends them. An answer is
   * asked for when the one before was taken. What `countAnswer` was told since then counts until it is taken in turn.
   */
  readonly open: (
    request: MessageShape<M['input']>,
    context: StreamContext,
  ) => Promise<AsyncIterator<MessageInitShape<M['output']>, unknown>>;
  /** Whether it mostly waits: then it holds no place among the requests in progress, and has limits of its own. */
  readonly isIdle?: boolean;
};

/** The code behind a service: a missing rpc does not compile. */
export type Implementation<S extends DescService> = {
  readonly [K in keyof S['method']]: S['method'][K] extends DescMethodUnary
    ? Handler<S['method'][K]> | TolerantHandler<S['method'][K]>
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
  /** Where OpenTelemetry is posted, for the rpcs that it declares: they have no route of their own. */
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
  /** A read can be asked again without harm; the answer to a change must be told. */
  readonly isRead: boolean;
  /** Largest request, on the wire and decoded, bytes. */
  readonly sizeMaxBytes: number;
};
