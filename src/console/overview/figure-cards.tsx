import { Link } from '@tanstack/react-router';
import { NONE } from '../design/format.ts';
import type { TraceListSearch } from '../traces/search.ts';
import styles from './overview.module.css';

export type Figure = {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  /** Finds the traces behind it. */
  readonly search: TraceListSearch;
};

export function FigureCards({ slug, figures }: { readonly slug: string; readonly figures: readonly Figure[] }) {
  return (
    <div className={styles.cards}>
      {figures.map(({ label, value, note, search }) => (
        <Link key={label} to="/$slug/traces" params={{ slug }} search={search} className={styles.card}>
          <span className={styles.label}>{label}</span>
          <span className={styles.figure}>{value}</span>
          <span className={styles.note}>{note || NONE}</span>
        </Link>
      ))}
    </div>
  );
}
