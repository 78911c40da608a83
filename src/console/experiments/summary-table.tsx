/** The summary of a run, beside that of another. */

import type { ExperimentRunSummary } from '../../../gen/spandrel/v1/experiments_pb.js';
import {
  formatCost,
  formatCount,
  formatDuration,
  formatScore,
  formatShare,
  NONE,
  nameControls,
} from '../design/format.ts';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';

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
};

export function SummaryTable({ summary, other }: SummaryTableProps) {
  const rows = rowsOf(summary, other);
  return (
    <Table
      columns={[
        'Figure',
        { number: 'This run' },
        ...(other ? [{ number: 'The other run' }, { number: 'Difference' }] : []),
      ]}
    >
      {rows.map(({ label, value, before, format }) => (
        <tr key={label}>
          <td>{nameControls(label)}</td>
          <td className={page.number}>{format(value)}</td>
          {other && (
            <>
              <td className={page.number}>{format(before)}</td>
              <td className={page.number}>{differenceOf(value, before, format)}</td>
            </>
          )}
        </tr>
      ))}
    </Table>
  );
}

function rowsOf(summary: ExperimentRunSummary, other: ExperimentRunSummary | null): readonly Row[] {
  const names = new Set([...summary.evaluators, ...(other?.evaluators ?? [])].map(({ name }) => name));
  const ofEvaluators = [...names].flatMap((name): Row[] => {
    const now = summary.evaluators.find((each) => each.name === name);
    const before = other?.evaluators.find((each) => each.name === name);
    return [
      { label: `${name}, passed`, value: now?.passRate, before: before?.passRate, format: formatShare },
      { label: `${name}, mean score`, value: now?.meanScore, before: before?.meanScore, format: formatScore },
      { label: `${name}, failed to evaluate`, value: now?.failed, before: before?.failed, format: formatCount },
    ];
  });
  return [
    ...ofEvaluators.filter(({ value, before }) => (value ?? before ?? 0) !== 0 || (before ?? 0) !== 0),
    { label: 'Results', value: summary.results, before: other?.results, format: formatCount },
    { label: 'Failed', value: summary.errors, before: other?.errors, format: formatCount },
    { label: 'Cost', value: summary.cost, before: other?.cost, format: formatCost },
    {
      label: 'Cost of evaluations',
      value: summary.evaluationCost,
      before: other?.evaluationCost,
      format: formatCost,
    },
    { label: 'Mean duration', value: summary.meanDuration, before: other?.meanDuration, format: formatDuration },
  ];
}

function differenceOf(value: number | undefined, before: number | undefined, format: Row['format']): string {
  if (value === undefined || before === undefined) return NONE;
  if (value === before) return '±0';
  return `${value > before ? '+' : '−'}${format(Math.abs(value - before))}`;
}
