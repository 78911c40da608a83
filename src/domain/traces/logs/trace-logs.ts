/** Reads log records: those that describe calls become spans. */

import type { Project } from '../../caller.ts';
import type { RunSteps } from '../../steps.ts';
import { toBatchDraft } from '../otlp/batch.ts';
import type { OtlpLogs } from '../otlp/log-record.ts';
import type { Traces } from '../traces.ts';
import { sortRecords } from './sort-records.ts';

type TraceLogsDeps = {
  readonly traces: Pick<Traces, 'collectBatch'>;
  readonly runSteps: RunSteps;
  /** Called with the number of records that were not read. */
  readonly onUnread: (records: number) => void;
};

export type LogsReport = { readonly rejectedRecords: number; readonly errorMessage: string };

export type TraceLogs = {
  /** Resolves once what the records tell is stored. After a failure the sender repeats the request, which is safe. */
  collect(logs: OtlpLogs, at: { readonly project: Project; readonly nowMs: number }): Promise<LogsReport>;
};

export function createTraceLogs({ traces, runSteps, onUnread }: TraceLogsDeps): TraceLogs {
  return {
    async collect(logs, at) {
      const { calls, refused, unread } = await runSteps(sortRecords(logs, at.project));
      const batch = await runSteps(toBatchDraft(calls));
      const report = await traces.collectBatch({ ...batch, refused: [...refused, ...batch.refused] }, at);
      onUnread(unread);
      return { rejectedRecords: report.rejectedSpans, errorMessage: report.errorMessage };
    },
  };
}
