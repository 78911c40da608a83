/** What requests hold now, against the settings that bound it. */

import type { Registry } from './registry.ts';

export type Held = {
  readonly arriving: number;
  readonly inFlight: number;
  readonly bodyBytes: number;
  readonly answerBytes: number;
};

export function tellHeld(registry: Registry, held: () => Held): void {
  const gauge = (name: string, help: string, read: (now: Held) => number) =>
    registry.gauge({ name, help }, () => [{ value: read(held()) }]);
  gauge(
    'spandrel_requests_in_progress',
    'Requests being worked on; SPANDREL_MAX_INFLIGHT bounds it.',
    (now) => now.inFlight,
  );
  gauge(
    'spandrel_requests_arriving',
    'Requests whose body is on its way; SPANDREL_MAX_ARRIVING bounds it.',
    (now) => now.arriving,
  );
  gauge(
    'spandrel_request_body_bytes',
    'Bytes of bodies not answered yet; SPANDREL_INGEST_QUEUE_BYTES bounds it.',
    (now) => now.bodyBytes,
  );
  gauge(
    'spandrel_answer_bytes',
    'Bytes of answers not taken yet; SPANDREL_ANSWER_BYTES bounds it.',
    (now) => now.answerBytes,
  );
}
