/** The form of a trigger, with a preview of what it would match. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { AnnotationQueueService } from '../../../gen/spandrel/v1/annotation_queues_pb.js';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { TriggerAction, TriggerKind } from '../../../gen/spandrel/v1/triggers_pb.js';
import { AreaField, type Call, FORM_CARD, Form, SelectField, TextField, useDraft } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useSession } from '../session/session.tsx';
import { LineHints } from '../traces/line-hints.tsx';
import { sentConditions, type TriggerConditions } from './conditions.ts';
import { isComplete, type TriggerDraft } from './draft.ts';
import { KeptFilters, NoWords } from './kept-filters.tsx';
import {
  ACTIONS,
  ALERT_TYPES,
  CADENCES,
  GROUPS,
  KINDS,
  METRICS,
  NO_DATA,
  OPERATORS,
  WINDOWS,
} from './trigger-enums.ts';

/** Actions that keep each trace somewhere, at once. */
const KEEPS_TRACES: ReadonlySet<TriggerAction> = new Set([
  TriggerAction.ADD_TO_DATASET,
  TriggerAction.ADD_TO_ANNOTATION_QUEUE,
]);

type TriggerFormProps = {
  readonly start: TriggerDraft;
  /** Whether the kind can still be chosen. */
  readonly isNew: boolean;
  readonly action: string;
  readonly call: Call;
  readonly onSubmit: (draft: TriggerDraft) => void;
};

type FieldsProps = {
  readonly draft: TriggerDraft;
  readonly change: (part: Partial<TriggerDraft>) => void;
};

const DAY_MS = 86_400_000;

export function TriggerForm({ start, isNew, action, call, onSubmit }: TriggerFormProps) {
  const [draft, change] = useDraft(start);
  const isMetric = draft.kind === TriggerKind.METRIC;
  return (
    <Form
      className={FORM_CARD}
      action={action}
      disabled={call.isPending || !isComplete(draft)}
      error={call.error}
      onSubmit={() => onSubmit(draft)}
    >
      <TextField label="Name" field="name" maxLength={128} value={draft.name} onChange={(name) => change({ name })} />
      {isNew && (
        <SelectField label="Watches" value={draft.kind} options={KINDS} onChange={(kind) => change({ kind })} />
      )}
      {isMetric && <MetricFields draft={draft} change={change} />}
      <TextField
        label={isMetric ? 'Only traces with' : 'Traces that match'}
        hint={
          isMetric
            ? 'For example label:support or model:gpt-5, one value each; empty: all traces.'
            : 'As in the list of traces, for example error:true label:support.'
        }
        value={draft.line}
        onChange={(line) => change({ line })}
      />
      <LineHints line={draft.line} />
      {isMetric && <NoWords line={draft.line} />}
      <KeptFilters kept={draft.kept} onChange={(kept) => change({ kept })} />
      {!isMetric && <Preview conditions={draft} />}
      <SelectField
        label="Then"
        value={draft.action}
        options={ACTIONS.filter(([each]) => !isMetric || !KEEPS_TRACES.has(each))}
        onChange={(chosen) => change({ action: chosen })}
      />
      <ActionFields draft={draft} change={change} />
      {!isMetric && !KEEPS_TRACES.has(draft.action) && (
        <SelectField
          label="When"
          value={draft.cadence}
          options={CADENCES}
          onChange={(cadence) => change({ cadence })}
        />
      )}
      <SelectField
        label="Severity"
        value={draft.alertType}
        options={ALERT_TYPES}
        onChange={(alertType) => change({ alertType })}
      />
      <AreaField label="Message" rows={3} value={draft.message} onChange={(message) => change({ message })} />
    </Form>
  );
}

function MetricFields({ draft, change }: FieldsProps) {
  const number = { type: 'number', step: 'any' } as const;
  return (
    <>
      <SelectField label="Metric" value={draft.series} options={METRICS} onChange={(series) => change({ series })} />
      <SelectField label="Of" value={draft.groupBy} options={GROUPS} onChange={(groupBy) => change({ groupBy })} />
      <SelectField
        label="In a window of"
        value={draft.windowMinutes}
        options={WINDOWS}
        onChange={(windowMinutes) => change({ windowMinutes })}
      />
      <SelectField
        label="Is bad when it"
        value={draft.operator}
        options={OPERATORS}
        onChange={(operator) => change({ operator })}
      />
      <TextField label="Alert" {...number} value={draft.alert} onChange={(alert) => change({ alert })} />
      <TextField
        label="Warning"
        hint="Crossed before the alert; empty: there is no warning."
        {...number}
        value={draft.warning}
        onChange={(warning) => change({ warning })}
      />
      <TextField
        label="Good windows until it is over"
        type="number"
        min={1}
        max={60}
        value={draft.recoveryWindows}
        onChange={(recoveryWindows) => change({ recoveryWindows })}
      />
      <SelectField
        label="A window without data"
        value={draft.noData}
        options={NO_DATA}
        onChange={(noData) => change({ noData })}
      />
      <TextField
        label="Announce it again after minutes"
        hint="Empty: once."
        type="number"
        min={5}
        max={10_080}
        value={draft.renotifyMinutes}
        onChange={(renotifyMinutes) => change({ renotifyMinutes })}
      />
    </>
  );
}

function ActionFields({ draft, change }: FieldsProps) {
  switch (draft.action) {
    case TriggerAction.SEND_SLACK_MESSAGE:
      return (
        <TextField
          label="Incoming webhook of Slack"
          hint="Stored encrypted, and never shown again. Empty: the stored one stays."
          type="url"
          autoComplete="off"
          value={draft.slackWebhook}
          onChange={(slackWebhook) => change({ slackWebhook })}
        />
      );
    case TriggerAction.SEND_EMAIL:
      return (
        <TextField
          label="To"
          hint="Up to 20 addresses, separated by commas."
          value={draft.members}
          onChange={(members) => change({ members })}
        />
      );
    case TriggerAction.ADD_TO_DATASET:
      return <DatasetField draft={draft} change={change} />;
    case TriggerAction.ADD_TO_ANNOTATION_QUEUE:
      return <QueueField draft={draft} change={change} />;
    default:
      return <p className={page.soft}>Endpoints get it that name alert.*, alert.fired or alert.resolved.</p>;
  }
}

function DatasetField({ draft, change }: FieldsProps) {
  const found = useQuery(DatasetService.method.listDatasets);
  const datasets = found.data?.data ?? [];
  return (
    <SelectField
      label="Dataset"
      value={draft.datasetId}
      options={[['', 'Choose…'], ...datasets.map(({ id, name }) => [id, nameControls(name)] as const)]}
      onChange={(datasetId) => change({ datasetId })}
    />
  );
}

function QueueField({ draft, change }: FieldsProps) {
  const found = useQuery(AnnotationQueueService.method.listAnnotationQueues);
  const queues = found.data?.queues ?? [];
  return (
    <SelectField
      label="Review queue"
      value={draft.queueId}
      options={[['', 'Choose…'], ...queues.map(({ id, name = '' }) => [id, nameControls(name)] as const)]}
      onChange={(queueId) => change({ queueId })}
    />
  );
}

/** How many traces of the last day match. */
function Preview({ conditions }: { readonly conditions: TriggerConditions }) {
  const { may } = useSession();
  const [nowMs] = useState(Date.now);
  const { query, filters } = sentConditions(conditions);
  const isAsked = (query !== '' || filters.length > 0) && may('traces:view');
  const input = {
    ...{ query, filters },
    startDate: timestampFromMs(nowMs - DAY_MS),
    endDate: timestampFromMs(nowMs),
    pageSize: 1,
  };
  const found = useQuery(TraceService.method.searchTraces, input, { enabled: isAsked });
  const total = found.data?.pagination?.totalHits;
  if (!isAsked || total === undefined) return null;
  return (
    <p className={page.soft} role="status">
      {formatCount(total)} traces of the last day match.
    </p>
  );
}
