import { Link } from '@tanstack/react-router';
import controls from '../design/controls.module.css';
import { NONE } from '../design/format.ts';
import page from '../design/page.module.css';
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
        <Link
          key={label}
          to="/$slug/traces"
          params={{ slug }}
          search={search}
          className={`${page.card} ${styles.card}`}
        >
          <span className={controls.hint}>{label}</span>
          <span className={styles.figure}>{value}</span>
          <span className={controls.hint}>{note || NONE}</span>
        </Link>
      ))}
    </div>
  );
}
