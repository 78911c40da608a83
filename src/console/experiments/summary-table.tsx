/** The summary of a run, or of several beside their baseline. */

import type { ExperimentRunSummary } from '../../../gen/spandrel/v1/experiments_pb.js';
import { NONE, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';
import { type Delta, deltaOf, figuresOf } from './deltas.ts';

type SummaryTableProps = {
  readonly runs: readonly { readonly label: string; readonly summary: ExperimentRunSummary }[];
  /** Null for runs that are not compared. */
  readonly baseline: ExperimentRunSummary | null;
};

export function SummaryTable({ runs, baseline }: SummaryTableProps) {
  const figures = figuresOf([...runs.map(({ summary }) => summary), ...(baseline ? [baseline] : [])]);
  const headings = [...(baseline ? ['Baseline'] : []), ...runs.map(({ label }) => label)];
  return (
    <Table name="Summary" columns={['Figure', ...headings.map((number) => ({ number }))]}>
      {figures.map((figure) => {
        const { label, of, format } = figure;
        return (
          <tr key={label}>
            <td>{nameControls(label)}</td>
            {baseline && <td className={page.number}>{format(of(baseline))}</td>}
            {runs.map((run, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a run is in the place of its column.
              <td key={index} className={page.number}>
                {format(of(run.summary))}
                {baseline && <DeltaView delta={deltaOf(figure, of(run.summary), of(baseline))} />}
              </td>
            ))}
          </tr>
        );
      })}
    </Table>
  );
}

export function DeltaView({ delta: { text, isBetter } }: { readonly delta: Delta }) {
  if (text === NONE) return null;
  return (
    <>
      {' '}
      <span className={isBetter === null ? page.soft : isBetter ? page.right : page.wrong}>{text}</span>
    </>
  );
}
