/** Events by which the users of an application say what they think of its answers, and their port. */

export type FeedbackEvent = {
  readonly eventId: string;
  readonly traceId: string;
  readonly type: string;
  /** Compact JSON text of an object of numbers. */
  readonly metricsJson: string;
  /** Compact JSON text of an object of strings, numbers and booleans. */
  readonly detailsJson: string;
  readonly occurredAtMs: number;
  readonly receivedAtMs: number;
};

/** What filters test of an event. */
export type FeedbackFacts = Pick<FeedbackEvent, 'type' | 'metricsJson'>;

export type Recording = {
  readonly projectNumber: number;
  readonly event: FeedbackEvent;
  /** Equal for events of equal content; null for one whose sender gave it an id. */
  readonly contentId: string | null;
  /** What the event takes of the room of its trace. */
  readonly bytes: number;
  readonly room: { readonly eventsMax: number; readonly bytesMax: number };
  /** Events of equal content that happened within this time are one. */
  readonly alikeWithinMs: number;
};

export type FeedbackStore = {
  /**
   * Stores an event of a trace that may not exist yet. It MUST resolve only after the commit is durable, MUST store an event
   * once however often it is sent, MUST return `full` and store nothing beyond the room of the trace, and MUST note a
   * trace that exists as changed.
   */
  record(recording: Recording): Promise<'stored' | 'known' | 'full'>;
  /** The events of some traces, each trace's by their time and id. MUST see every event recorded before the call. */
  listOf(projectNumber: number, traceIds: readonly string[]): Promise<readonly FeedbackEvent[]>;
};

/** How long an event waits for its trace. */
export const FEEDBACK_WAITS_MS = 30 * 86_400_000;

/** What an event takes beside its texts. */
const EVENT_BYTES = 256;

/** About what events take, where they are kept and in an answer. */
export function feedbackBytes(events: readonly Pick<FeedbackEvent, 'metricsJson' | 'detailsJson'>[]): number {
  return events.reduce(
    (sum, { metricsJson, detailsJson }) =>
      sum + EVENT_BYTES + Buffer.byteLength(metricsJson) + Buffer.byteLength(detailsJson),
    0,
  );
}
