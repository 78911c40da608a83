/** Begins a run of a prompt over a dataset: which version, which entries, and which column is which variable. */

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { type Evaluator, EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { type Prompt, PromptService } from '../../../gen/spandrel/v1/prompts_pb.js';
import { Check, FORM_CARD, Form, SelectField, TextField, useDraft } from '../design/form.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { useSession } from '../session/session.tsx';
import { toDraft, variablesOf } from './draft.ts';
import {
  columnsOf,
  ENTRIES_MAX,
  type Entry,
  fitsTarget,
  guessMapping,
  type Plan,
  readEntry,
  toTarget,
  valuesOf,
} from './evaluation-plan.ts';
import { useGatewayKey } from './gateway-key.tsx';
import styles from './prompts.module.css';

type EvaluateFormProps = {
  readonly slug: string;
  readonly prompt: Prompt;
  readonly onBegun: (experimentId: string, runId: string) => void;
};

const VERSIONS_OFFERED = 100;
const NAME_CHARACTERS = 255;

export function EvaluateForm({ slug, prompt, onBegun }: EvaluateFormProps) {
  const datasets = useQuery(DatasetService.method.listDatasets);
  const versions = useQuery(PromptService.method.listPromptVersions, { id: prompt.id });
  const key = useGatewayKey();
  const [form, change] = useDraft({
    datasetId: '',
    version: prompt.version,
    entries: '',
    experiment: prompt.handle,
    mapping: null as Plan['mapping'] | null,
    evaluators: [] as readonly string[],
  });
  const datasetId = form.datasetId === '' ? (datasets.data?.data[0]?.id ?? '') : form.datasetId;
  const dataset = useQuery(DatasetService.method.getDataset, { slugOrId: datasetId }, { enabled: datasetId !== '' });
  const init = useMutation(ExperimentService.method.initExperiment);
  const create = useMutation(ExperimentService.method.createExperimentRun);
  const log = useMutation(ExperimentService.method.logExperimentResults);
  const chosen = versions.data?.versions.find(({ version }) => version === form.version) ?? prompt;
  const names = variablesOf(toDraft(chosen)).flatMap(({ name, isUsed }) => (isUsed ? [name] : []));
  const entries = (dataset.data?.data ?? []).slice(0, ENTRIES_MAX).map(({ entryJson }) => readEntry(entryJson));
  const columns = columnsOf(entries);
  const mapping = form.mapping ?? guessMapping(names, columns);
  const count = form.entries === '' ? entries.length : Math.min(Number(form.entries), entries.length);
  const plan: Plan = {
    ...{ promptId: prompt.id, version: chosen.version, virtualKeyId: key.id ?? '', entries: count },
    mapping: Object.fromEntries(names.flatMap((name) => (mapping[name] ? [[name, mapping[name]]] : []))),
    evaluators: form.evaluators,
  };
  const begin = async () => {
    const { experiment } = await init.mutateAsync({ experimentName: form.experiment.trim() });
    const experimentId = experiment?.id ?? '';
    const newest = dataset.data?.dataset?.version;
    const { run } = await create.mutateAsync({
      slugOrId: experimentId,
      name: `${prompt.handle} version ${plan.version}`.slice(0, NAME_CHARACTERS),
      dataset: datasetId,
      ...(newest !== undefined && { datasetVersion: newest }),
      total: plan.entries,
    });
    const runId = run?.id ?? '';
    await log.mutateAsync({ experimentSlug: experimentId, runId, targets: [toTarget(plan, prompt.handle)] });
    onBegun(experimentId, runId);
  };
  const isReady = key.id !== null && Number.isInteger(count) && count >= 1 && form.experiment.trim() !== '';
  const isPending = init.isPending || create.isPending || log.isPending;
  if (datasets.data?.data.length === 0) {
    return (
      <div className={`${page.card} ${page.empty}`}>
        <h2>No dataset yet</h2>
        <p>A prompt is evaluated on the entries of a dataset: each column can be a variable of the prompt.</p>
        <Link to="/$slug/datasets" params={{ slug }}>
          Datasets
        </Link>
      </div>
    );
  }
  if (!datasets.data) return <Pending found={datasets} />;
  return (
    <Form
      className={FORM_CARD}
      action={isPending ? 'Beginning…' : `Evaluate on ${formatCount(count)} entries`}
      disabled={isPending || !isReady || !fitsTarget(plan)}
      error={init.error ?? create.error ?? log.error}
      outcome={fitsTarget(plan) ? undefined : 'That is too much for one run: choose fewer variables or evaluators.'}
      onSubmit={() => void begin().catch(() => undefined)}
    >
      <SelectField
        label="Dataset"
        value={datasetId}
        options={datasets.data.data.map(({ id, name }) => [id, nameControls(name)] as const)}
        onChange={(next) => change({ datasetId: next, mapping: null })}
      />
      <SelectField
        label="Version of the prompt"
        value={form.version}
        options={(versions.data?.versions ?? [prompt])
          .slice(0, VERSIONS_OFFERED)
          .map(({ version, commitMessage = '' }) => [version, nameControls(`${version} · ${commitMessage}`)] as const)}
        onChange={(version) => change({ version, mapping: null })}
      />
      <TextField
        label="Entries"
        hint={`From the first; at most ${ENTRIES_MAX}. Empty: all of these.`}
        type="number"
        min={1}
        max={ENTRIES_MAX}
        value={form.entries}
        onChange={(next) => change({ entries: next })}
      />
      <Pending found={dataset} />
      <Mapping
        names={names}
        columns={columns}
        mapping={plan.mapping}
        first={entries[0]}
        onChange={(next) => change({ mapping: next })}
      />
      {key.field}
      <Evaluators chosen={form.evaluators} onChange={(evaluators) => change({ evaluators })} />
      <TextField
        label="Experiment"
        field="experiment_name"
        hint="Runs of one experiment can be compared, such as those of two versions."
        maxLength={NAME_CHARACTERS}
        value={form.experiment}
        onChange={(experiment) => change({ experiment })}
      />
      <p className={page.soft}>
        Each entry is one request to the model, with its cost. This page makes them: keep it open until it is done.
      </p>
    </Form>
  );
}

type MappingProps = Pick<Plan, 'mapping'> & {
  readonly names: readonly string[];
  readonly columns: readonly string[];
  /** The first entry, as an example. */
  readonly first: Entry | undefined;
  readonly onChange: (mapping: Plan['mapping']) => void;
};

const SHOWN_CHARACTERS = 160;

function Mapping({ names, columns, mapping, first = {}, onChange }: MappingProps) {
  if (names.length === 0) return <p className={page.soft}>The prompt has no variables: every entry asks the same.</p>;
  const options = [['', 'Leave it empty'] as const, ...columns.map((name) => [name, nameControls(name)] as const)];
  const values = valuesOf(mapping, first);
  return (
    <>
      <div className={styles.pair}>
        {names.map((name) => (
          <SelectField
            key={name}
            label={`Column for ${name}`}
            value={mapping[name] ?? ''}
            options={options}
            onChange={(column) => onChange({ ...mapping, [name]: column })}
          />
        ))}
      </div>
      <Table columns={['Variable', 'In the first entry']} name="Variables of the first entry">
        {names.map((name) => (
          <tr key={name}>
            <td className={page.mono}>{name}</td>
            <td className={page.prose}>{shown(values[name])}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function shown(value: unknown): string {
  if (value === undefined) return 'empty';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return nameControls(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);
}

type EvaluatorsProps = { readonly chosen: readonly string[]; readonly onChange: (ids: readonly string[]) => void };

const EVALUATORS_OFFERED = 20;

function Evaluators({ chosen, onChange }: EvaluatorsProps) {
  const { may } = useSession();
  const enabled = may('evaluations:view') && may('evaluations:manage');
  const found = useQuery(EvaluatorService.method.listEvaluators, {}, { enabled });
  const evaluators: readonly Evaluator[] = (found.data?.evaluators ?? []).slice(0, EVALUATORS_OFFERED);
  if (evaluators.length === 0) return null;
  return (
    <fieldset className={page.group}>
      <legend>Judge each answer by</legend>
      {evaluators.map(({ id, name = id }) => (
        <Check
          key={id}
          checked={chosen.includes(id)}
          onChange={(isOn) => onChange(isOn ? [...chosen, id] : chosen.filter((each) => each !== id))}
        >
          {nameControls(name)}
        </Check>
      ))}
    </fieldset>
  );
}
