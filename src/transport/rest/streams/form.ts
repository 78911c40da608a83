/** How a stream of answers leaves over REST. */

import type { DescMethodServerStreaming, Message } from '@bufbuild/protobuf';
import { RestStream } from '../../../../gen/spandrel/v1/options_pb.js';
import type { StreamMethod } from '../../../rpc/method.ts';
import { compileEvents } from './events.ts';
import { compileLines } from './lines.ts';

export type StreamForm = {
  readonly mediaType: string;
  /** Whether somebody waits for each answer: then none is kept until others fill a packet. */
  readonly isLive: boolean;
  /** Begins to write the answers of one request. */
  readonly start: () => StreamWriter;
};

export type StreamWriter = {
  /** In pieces, each written when it is asked for. */
  readonly write: (message: Message) => Iterable<string>;
  /** What follows on the last answer. */
  readonly end: () => string;
  /** Tells that the stream ends early; null: nothing can tell but the connection that breaks off. */
  readonly fail: ((body: string) => string) | null;
};

/** Throws an Error where the answers do not look as their form wants them. */
export function compileForm({ desc, policy }: StreamMethod): StreamForm {
  const compile = FORMS.get(policy.stream);
  if (compile === undefined) throw new Error(`${desc.name}: the policy does not say how the stream leaves over REST`);
  return compile(desc);
}

type Compile = (desc: DescMethodServerStreaming) => StreamForm;

const FORMS: ReadonlyMap<RestStream, Compile> = new Map<RestStream, Compile>([
  [
    RestStream.LINES,
    ({ output }) => ({ mediaType: 'application/x-ndjson', isLive: false, start: compileLines(output) }),
  ],
  [
    RestStream.EVENTS,
    ({ output }) => ({ mediaType: 'text/event-stream; charset=utf-8', isLive: true, start: compileEvents(output) }),
  ],
]);
