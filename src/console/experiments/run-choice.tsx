/** Chooses the baseline of a run, further runs, and how they are shown; the address holds it all. */

import { useQuery } from '@connectrpc/connect-query';
import { type ExperimentRun, ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { Chip, Chips } from '../design/chip.tsx';
import { Check, Select } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import type { ChangeOf } from '../layout/search.ts';
import { labelOf } from './run-label.ts';
import { OTHERS_MAX, type RunSearch } from './search.ts';

const RUNS_OFFERED = 100;

type RunChoiceProps = {
  readonly experimentId: string;
  readonly runId: string;
  readonly search: RunSearch;
  readonly onChange: (change: ChangeOf<RunSearch>) => void;
};

export function RunChoice({ experimentId, runId, search, onChange }: RunChoiceProps) {
  const { against, with: others = [], differing, sort, plain } = search;
  const runs = useQuery(ExperimentService.method.listExperimentRuns, {
    slugOrId: experimentId,
    pageSize: RUNS_OFFERED,
  });
  const offered = runs.data?.data.filter(({ id }) => id !== runId) ?? [];
  if (offered.length === 0 && against === undefined) return null;
  const added = offered.filter(({ id }) => id !== against && !others.includes(id));
  const change = (next: string) => {
    // A run is not compared with itself.
    const left = others.filter((id) => id !== next);
    onChange(next === '' ? NOT_COMPARED : { against: next, with: left.length === 0 ? undefined : left });
  };
  return (
    <div className={page.row}>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is in Select */}
      <label className={page.row}>
        Baseline
        <Select value={against ?? ''} options={choicesOf('None', offered, against)} onChange={change} />
      </label>
      {against !== undefined && (
        <>
          {added.length > 0 && others.length < OTHERS_MAX && (
            <Select
              aria-label="Compare one more run"
              value=""
              options={choicesOf('Add a run', added)}
              onChange={(id) => id !== '' && onChange({ with: [...others, id] })}
            />
          )}
          <Select
            aria-label="Sorted by"
            value={sort ?? ''}
            options={SORTS}
            onChange={(next) => onChange({ sort: next === '' ? undefined : next })}
          />
          <Check checked={differing === true} onChange={(isOn) => onChange({ differing: isOn || undefined })}>
            Only differences
          </Check>
          <Check checked={plain !== true} onChange={(isOn) => onChange({ plain: !isOn || undefined })}>
            Mark words
          </Check>
          {others.length > 0 && (
            <Chips>
              {others.map((id) => (
                <Chip
                  key={id}
                  name="Run"
                  value={labelFor(id, offered)}
                  onRemove={() => {
                    const left = others.filter((each) => each !== id);
                    onChange({ with: left.length === 0 ? undefined : left });
                  }}
                />
              ))}
            </Chips>
          )}
        </>
      )}
    </div>
  );
}

const NOT_COMPARED = {
  against: undefined,
  with: undefined,
  differing: undefined,
  sort: undefined,
  plain: undefined,
} as const satisfies ChangeOf<RunSearch>;

const SORTS = [
  ['', 'Order of the baseline'],
  ['regression', 'Regression'],
] as const;

type Choice = readonly [id: string, label: string];

function choicesOf(none: string, runs: readonly ExperimentRun[], chosen?: string): readonly Choice[] {
  const isKnown = chosen === undefined || runs.some(({ id }) => id === chosen);
  const unknown: readonly Choice[] = isKnown ? [] : [[chosen, nameControls(chosen)]];
  return [['', none], ...unknown, ...runs.map((run): Choice => [run.id, labelOf(run)])];
}

/** An older run is not among those that are offered. */
function labelFor(id: string, runs: readonly ExperimentRun[]): string {
  const run = runs.find((each) => each.id === id);
  return run ? labelOf(run) : id;
}
