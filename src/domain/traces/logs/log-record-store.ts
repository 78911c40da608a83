/** The port of log records that are kept for their spans. */

/** How long records wait for their span. */
export const LOG_RECORDS_KEPT_MS = 86_400_000;

export type NamedSpan = { readonly traceId: string; readonly spanId: string };

export type KeptRecord = NamedSpan & {
  /** Differs for records of different content. */
  readonly recordId: string;
  /** What it takes of the room of its project. */
  readonly bytes: number;
  /** Compact JSON text of {"name","time_unix_nano","attributes"}. */
  readonly eventJson: string;
};

export type Keeping = {
  readonly projectNumber: number;
  readonly records: readonly KeptRecord[];
  readonly receivedAtMs: number;
  /** The most that records of the project may take. */
  readonly bytesMax: number;
};

export type LogRecordStore = {
  /**
   * Keeps records. It MUST resolve only after the commit is durable, MUST keep a record once however often it is sent,
   * and MUST drop the oldest records of the project beyond `bytesMax`. Returns how many of those no span had.
   */
  keep(keeping: Keeping): Promise<{ readonly dropped: number }>;
  /** Whether the project has no record. MUST see every record kept before the call. */
  isEmpty(projectNumber: number): Promise<boolean>;
  /** The spans of these traces with records received at the instant or later. MUST see every record kept before the call. */
  spansOf(projectNumber: number, traceIds: readonly string[], sinceMs: number): Promise<readonly NamedSpan[]>;
  /** The first records of a span received at the instant or later. MUST see every record kept before the call. */
  listOf(
    projectNumber: number,
    span: NamedSpan,
    range: { readonly sinceMs: number; readonly limit: number },
  ): Promise<readonly ListedRecord[]>;
  /** Notes that the spans have their records. They are kept, because a span may be sent again without them. */
  noteJoined(projectNumber: number, spans: readonly NamedSpan[]): Promise<void>;
};

export type ListedRecord = Pick<KeptRecord, 'recordId' | 'eventJson'> & { readonly isJoined: boolean };
