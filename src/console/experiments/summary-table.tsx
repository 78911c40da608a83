/** The summary of a run, beside that of another. */

import type { ExperimentRunSummary } from '../../../gen/spandrel/v1/experiments_pb.js';
import { joined } from '../design/button.tsx';
import {
  formatCost,
  formatCount,
  formatDuration,
  formatPoints,
  formatScore,
  formatShare,
  NONE,
  nameControls,
} from '../design/format.ts';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';
import { countedBy } from '../evaluations/scores.tsx';

type SummaryTableProps = {
  readonly summary: ExperimentRunSummary;
  /** Null without another run. */
  readonly other: ExperimentRunSummary | null;
};

type Row = {
  readonly label: string;
  readonly value: number | undefined;
  readonly before: number | undefined;
  readonly format: (value: number | null | undefined) => string;
  /** Which direction is an improvement; absent where neither is. */
  readonly better?: 'more' | 'less';
};

export function SummaryTable({ summary, other }: SummaryTableProps) {
  const rows = rowsOf(summary, other);
  return (
    <Table
      columns={['Figure', { number: 'This run' }, ...(other ? [{ number: 'Baseline' }, { number: 'Difference' }] : [])]}
    >
      {rows.map((row) => {
        const { label, value, before, format } = row;
        return (
          <tr key={label}>
            <td>{nameControls(label)}</td>
            <td className={page.number}>{format(value)}</td>
            {other && (
              <>
                <td className={page.number}>{format(before)}</td>
                <td className={joined(page.number, toneOf(row))}>{differenceOf(row)}</td>
              </>
            )}
          </tr>
        );
      })}
    </Table>
  );
}

function rowsOf(summary: ExperimentRunSummary, other: ExperimentRunSummary | null): readonly Row[] {
  const names = new Set([...summary.evaluators, ...(other?.evaluators ?? [])].map(({ name }) => name));
  const ofEvaluators = [...names].flatMap((name): Row[] => {
    const now = summary.evaluators.find((each) => each.name === name);
    const before = other?.evaluators.find((each) => each.name === name);
    return [
      { label: `${name}, passed`, value: now?.passRate, before: before?.passRate, format: formatShare, better: 'more' },
      {
        label: `${name}, mean score`,
        value: now?.meanScore,
        before: before?.meanScore,
        format: formatScore,
        better: countedBy(name) === null ? 'more' : 'less',
      },
      { label: `${name}, errors`, value: now?.failed, before: before?.failed, format: formatCount, better: 'less' },
    ];
  });
  return [
    ...ofEvaluators.filter(({ value, before }) => (value ?? before ?? 0) !== 0 || (before ?? 0) !== 0),
    { label: 'Results', value: summary.results, before: other?.results, format: formatCount },
    { label: 'Failed', value: summary.errors, before: other?.errors, format: formatCount, better: 'less' },
    { label: 'Cost', value: summary.cost, before: other?.cost, format: formatCost, better: 'less' },
    {
      label: 'Cost of evaluations',
      value: summary.evaluationCost,
      before: other?.evaluationCost,
      format: formatCost,
      better: 'less',
    },
    {
      label: 'Mean duration',
      value: summary.meanDuration,
      before: other?.meanDuration,
      format: formatDuration,
      better: 'less',
    },
  ];
}

/** Shares differ by percentage points. */
function differenceOf({ value, before, format }: Row): string {
  if (value === undefined || before === undefined) return NONE;
  if (value === before) return '±0';
  if (format === formatShare) return formatPoints(value - before);
  return `${value > before ? '+' : '−'}${format(Math.abs(value - before))}`;
}

function toneOf({ value, before, better }: Row): string | undefined {
  if (value === undefined || before === undefined || value === before || better === undefined) return undefined;
  return value > before === (better === 'more') ? page.right : page.wrong;
}
