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
  /** Finds the traces behind it. */
  readonly search: TraceListSearch;
};

export function FigureCards({ slug, figures }: { readonly slug: string; readonly figures: readonly Figure[] }) {
  return (
    <div className={styles.cards}>
      {figures.map(({ label, value, note, isBad = false, search }) => (
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
        </Link>
      ))}
    </div>
  );
}
