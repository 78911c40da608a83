/** The result of each entry, beside its result in another run. Values are shown as text. */

import { Link } from '@tanstack/react-router';
import type { ExperimentEvaluation, ExperimentResult } from '../../../gen/spandrel/v1/experiments_pb.js';
import { Badge } from '../design/button.tsx';
import { formatCost, formatDuration, formatScore, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';
import { outcomeOf, toneOf } from '../trace/evaluations.tsx';
import styles from './experiments.module.css';
import type { Entries } from './use-entries.ts';
import type { ResultPair } from './use-results.ts';
import { ValueView } from './value-view.tsx';

const TEXT = `${page.prose} ${styles.text}`;

type ResultTableProps = {
  readonly slug: string;
  readonly pairs: readonly ResultPair[];
  readonly isCompared: boolean;
  /** Names by target id. */
  readonly targets: ReadonlyMap<string, string>;
  /** For results that lack their entry. */
  readonly entries: Entries;
  readonly onlyDiffering: boolean;
};

export function ResultTable({ slug, pairs, isCompared, targets, entries, onlyDiffering }: ResultTableProps) {
  const shown = isCompared && onlyDiffering ? pairs.filter(differs) : pairs;
  if (shown.length === 0)
    return <p className={page.soft}>{pairs.length === 0 ? 'No results yet.' : 'None of these results differ.'}</p>;
  return (
    <Table columns={[{ number: '#' }, 'Entry', ...(isCompared ? ['This run', 'Baseline'] : ['Result'])]}>
      {shown.map(({ entry: { index, targetId, entryId = '', entryJson }, result, other }) => (
        <tr key={JSON.stringify([keyOf(result), keyOf(other)])}>
          <td className={page.number}>{index}</td>
          <td className={styles.cell}>
            {targetId !== undefined && <Badge>{nameControls(targets.get(targetId) ?? targetId)}</Badge>}
            <div className={styles.text}>
              <ValueView json={entryJson ?? entries.get(entryId)} />
            </div>
          </td>
          <td className={styles.cell}>{result ? <Outcome slug={slug} result={result} /> : 'no result'}</td>
          {isCompared && (
            <td className={styles.cell}>{other ? <Outcome slug={slug} result={other} /> : 'no result'}</td>
          )}
        </tr>
      ))}
    </Table>
  );
}

/** Identifies a result within its run. */
function keyOf(result: ExperimentResult | undefined): readonly unknown[] | null {
  return result ? [result.index, result.targetId] : null;
}

function Outcome({ slug, result }: { readonly slug: string; readonly result: ExperimentResult }) {
  const { predictedJson, error, evaluations, traceId, cost, duration } = result;
  return (
    <div className={styles.outcome}>
      {error !== undefined && (
        <div className={TEXT}>
          <Badge tone="bad">Failed</Badge> {nameControls(error)}
        </div>
      )}
      {predictedJson !== undefined && (
        <div className={styles.text}>
          <ValueView json={predictedJson} />
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
    </div>
  );
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

/** Whether the outcome or an evaluation differs. */
function differs({ result, other }: ResultPair): boolean {
  return !result || !other || verdictsOf(result) !== verdictsOf(other);
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
