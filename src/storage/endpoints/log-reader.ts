/** The log as those read it who deliver. */

import type { DeliveryStore, LogEntry } from '../../domain/webhook-store.ts';
import { readEnvelopeHead } from '../events/envelope-head.ts';
import type { Ask } from '../questions.ts';
import type { EndpointQuestions } from './webhook-store.ts';

export type LogReader = Pick<DeliveryStore, 'heads' | 'events' | 'envelopes'> & {
  /** Forgets what is known of the log: the database may be another one. */
  forget(): void;
};

/** Some entry of a log, and when it was created. */
type Mark = Pick<LogEntry, 'seq' | 'createdAtMs'>;

// An organization that is forgotten only costs a look at every month.
const MARKS_MAX = 10_000;

export function createLogReader({ endpointsLog }: EndpointQuestions, ask: Ask): LogReader {
  /** Time never runs backwards in a log, so what comes behind an entry was created no earlier than it. */
  const marks = new Map<number, Mark>();

  function remember(organizationNumber: number, { seq, createdAtMs }: Mark): void {
    // Most who read are near the end, and those behind have more to read than months to look at.
    if (seq <= (marks.get(organizationNumber)?.seq ?? 0)) return;
    marks.delete(organizationNumber);
    marks.set(organizationNumber, { seq, createdAtMs });
    const [oldest] = marks.keys();
    if (marks.size > MARKS_MAX && oldest !== undefined) marks.delete(oldest);
  }

  return {
    heads: () => ask(endpointsLog.listHeads, {}),
    async events(organizationNumber, range) {
      const mark = marks.get(organizationNumber);
      const firstMs = mark !== undefined && mark.seq <= range.afterSeq ? mark.createdAtMs : 0;
      const rows = await ask(endpointsLog.listEntries, { organizationNumber, firstMs, ...range });
      const entries = rows.map(toEntry);
      // The first, not the last: what was read may have to be read again.
      const [first] = entries;
      if (first !== undefined) remember(organizationNumber, first);
      return entries;
    },
    envelopes: async (organizationNumber, seqs, within) =>
      (await ask(endpointsLog.listEnvelopes, { organizationNumber, seqs, ...within })).map(toEntry),
    forget: () => marks.clear(),
  };
}

function toEntry({ seq, envelope }: Pick<LogEntry, 'seq' | 'envelope'>): LogEntry {
  return { seq, ...readEnvelopeHead(envelope), envelope };
}
