import { Link } from '@tanstack/react-router';
import { joined } from '../design/button.tsx';
import controls from '../design/controls.module.css';
import { NONE } from '../design/format.ts';
import page from '../design/page.module.css';
import type { TraceListSearch } from '../traces/search.ts';
import styles from './overview.module.css';

export type Figure = {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  /** Whether its note says that something is wrong. */
  readonly isBad?: boolean;
  /** How it differs from the period before; empty where nothing can be compared. */
  readonly change?: string;
  /** Its course over the range; a gap where nothing is known. */
  readonly course?: readonly (number | null)[] | undefined;
  readonly isBadCourse?: boolean;
  /** Finds the traces behind it. */
  readonly search: TraceListSearch;
};

export function FigureCards({ slug, figures }: { readonly slug: string; readonly figures: readonly Figure[] }) {
  return (
    <div className={styles.cards}>
      {figures.map(({ label, value, note, isBad = false, change, course, isBadCourse = false, search }) => (
        <Link
          key={label}
          to="/$slug/traces"
          params={{ slug }}
          search={search}
          className={`${page.card} ${styles.card}`}
        >
          <span className={controls.hint}>{label}</span>
          <span className={styles.figure}>{value}</span>
          <span className={joined(controls.hint, isBad && page.wrong)}>{note || NONE}</span>
          {change !== undefined && <span className={controls.hint}>{change || 'nothing to compare'}</span>}
          {course && course.length > 1 && <Sparkline values={course} isBad={isBadCourse} />}
        </Link>
      ))}
    </div>
  );
}

const WIDTH = 100;
const HEIGHT = 28;

/** The chart of a card tells nothing that the charts below do not tell as text. */
function Sparkline({ values, isBad }: { readonly values: readonly (number | null)[]; readonly isBad: boolean }) {
  const max = Math.max(...values.map((value) => value ?? 0)) || 1;
  const x = (index: number) => ((WIDTH * index) / (values.length - 1)).toFixed(1);
  const y = (value: number) => (HEIGHT - 2 - ((HEIGHT - 4) * value) / max).toFixed(1);
  let isDrawing = false;
  const path = values.map((value, index) => {
    if (value === null) {
      isDrawing = false;
      return '';
    }
    const step = `${isDrawing ? 'L' : 'M'}${x(index)} ${y(value)}`;
    isDrawing = true;
    return step;
  });
  return (
    <svg
      className={joined(styles.spark, isBad && styles.sparkBad)}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden
    >
      <path
        d={path.join('')}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
