/** The result of each entry in one run, or in several beside their baseline. Values are shown as text. */

import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ExperimentEvaluation, ExperimentResult } from '../../../gen/spandrel/v1/experiments_pb.js';
import { diffWords } from '../compare/diff.ts';
import { Words } from '../compare/words.tsx';
import { Badge } from '../design/button.tsx';
import { formatCost, formatDuration, formatScore, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';
import { outcomeOf, toneOf } from '../trace/evaluations.tsx';
import { byRegression, deltasOf } from './deltas.ts';
import type { EntryRow } from './entry-rows.ts';
import styles from './experiments.module.css';
import { DeltaView } from './summary-table.tsx';
import type { Entries } from './use-entries.ts';
import { plainText, ValueView } from './value-view.tsx';

const TEXT = `${page.prose} ${styles.text}`;

type ResultTableProps = {
  readonly slug: string;
  readonly rows: readonly EntryRow[];
  /** The names of the runs. */
  readonly runs: readonly string[];
  /** Null for a run that is not compared. */
  readonly comparison: Comparison | null;
  /** Names by target id. */
  readonly targets: ReadonlyMap<string, string>;
  /** For results that lack their entry. */
  readonly entries: Entries;
};

type Comparison = { readonly onlyDiffering: boolean; readonly byRegression: boolean; readonly marksWords: boolean };

export function ResultTable({ slug, rows, runs, comparison, targets, entries }: ResultTableProps) {
  const differing = comparison?.onlyDiffering ? rows.filter(differs) : rows;
  const shown = comparison?.byRegression ? differing.toSorted(byRegression) : differing;
  if (shown.length === 0)
    return <p className={page.soft}>{rows.length === 0 ? 'No results yet.' : 'None of these results differ.'}</p>;
  return (
    <Table name="Results" columns={[{ number: '#' }, 'Entry', ...(comparison ? ['Baseline'] : []), ...runs]}>
      {shown.map(({ key, entry: { index, targetId, entryId = '', entryJson }, baseline, results }) => (
        <tr key={key}>
          <td className={page.number}>{index}</td>
          <td className={styles.cell}>
            {targetId !== undefined && <Badge>{nameControls(targets.get(targetId) ?? targetId)}</Badge>}
            <div className={styles.text}>
              <ValueView json={entryJson ?? entries.get(entryId)} />
            </div>
          </td>
          {comparison && (
            <td className={styles.cell}>{baseline ? <Outcome slug={slug} result={baseline} /> : 'no result'}</td>
          )}
          {results.map((result, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a run is in the place of its column.
            <td key={place} className={styles.cell}>
              {result === null && 'not loaded yet'}
              {result === undefined && 'no result'}
              {result && (
                <Outcome
                  slug={slug}
                  result={result}
                  baseline={comparison ? baseline : undefined}
                  marksWords={comparison?.marksWords}
                />
              )}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

type OutcomeProps = {
  readonly slug: string;
  readonly result: ExperimentResult;
  /** What it is compared with. */
  readonly baseline?: ExperimentResult | undefined;
  readonly marksWords?: boolean | undefined;
};

function Outcome({ slug, result, baseline, marksWords = false }: OutcomeProps) {
  const { predictedJson, error, evaluations, traceId, cost, duration } = result;
  const deltas = baseline ? deltasOf(result, baseline) : [];
  return (
    <div className={styles.outcome}>
      {error !== undefined && (
        <div className={TEXT}>
          <Badge tone="bad">Failed</Badge> {nameControls(error)}
        </div>
      )}
      {predictedJson !== undefined && (
        <div className={styles.text}>
          {marksWords && baseline?.predictedJson !== undefined ? (
            <DifferingWords before={baseline.predictedJson} after={predictedJson} />
          ) : (
            <ValueView json={predictedJson} />
          )}
        </div>
      )}
      {evaluations.map((evaluation) => (
        <Verdict key={evaluation.name ?? evaluation.evaluator ?? ''} evaluation={evaluation} />
      ))}
      <span className={page.soft}>
        {[cost === undefined ? null : formatCost(cost), duration === undefined ? null : formatDuration(duration)]
          .filter((part) => part !== null)
          .join(' · ')}{' '}
        {traceId !== undefined && traceId !== '' && (
          <Link to="/$slug/traces/$traceId" params={{ slug, traceId }} className={page.underlined}>
            trace
          </Link>
        )}
      </span>
      {deltas.length > 0 && (
        <ul className={styles.deltas} aria-label="Differences">
          {deltas.map((delta) => (
            <li key={delta.name}>
              {nameControls(delta.name)}
              <DeltaView delta={delta} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function DifferingWords({ before, after }: { readonly before: string; readonly after: string }) {
  const runs = useMemo(() => diffWords(plainText(before), plainText(after)), [before, after]);
  return <Words runs={runs} side="either" />;
}

function Verdict({ evaluation }: { readonly evaluation: ExperimentEvaluation }) {
  const { name, evaluator, score, label, details, passed, status } = evaluation;
  const outcome = { status, ...(passed !== undefined && { passed }) };
  return (
    <div className={`${page.row} ${page.prose}`} title={details === undefined ? undefined : nameControls(details)}>
      <Badge tone={toneOf(outcome)}>{outcomeOf(outcome)}</Badge> <span>{nameControls(name ?? evaluator ?? '')}</span>
      {score !== undefined && <span>{formatScore(score)}</span>}
      {label !== undefined && <span>{nameControls(label)}</span>}
    </div>
  );
}

/** Whether the outcome or an evaluation of a run differs from the baseline; of what is not loaded nobody knows. */
function differs({ baseline, results }: EntryRow): boolean {
  return results.some(
    (result) => result !== null && (!result || !baseline || verdictsOf(result) !== verdictsOf(baseline)),
  );
}

function verdictsOf({ error, evaluations }: ExperimentResult): string {
  const shown = evaluations.map(({ name, evaluator, status, passed, score, label }) => [
    name ?? evaluator ?? '',
    status,
    passed ?? null,
    score ?? null,
    label ?? null,
  ]);
  return JSON.stringify([error !== undefined, shown.toSorted(([one], [two]) => (String(one) < String(two) ? -1 : 1))]);
}
