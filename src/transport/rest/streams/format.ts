/** How a stream of responses is written over REST. */

import type { Message } from '@bufbuild/protobuf';

export type StreamFormat = {
  readonly mediaType: string;
  /** Whether each response is sent at once, instead of buffered until a chunk is full. */
  readonly isLive: boolean;
  /** Creates the writer of one stream. */
  readonly start: () => StreamWriter;
};

export type StreamWriter = {
  /** Yields the text of one response in chunks. */
  readonly write: (message: Message) => Iterable<string>;
  /** The text after the last response. */
  readonly end: () => string;
  /** The text that reports an error in the stream; null: the format has none, and the connection is broken off. */
  readonly fail: ((body: string) => string) | null;
};
