import styles from './progress.module.css';

type ProgressProps = { readonly label: string; readonly done: number; readonly all: number };

/** A progress bar; full if `all` is 0. */
export function Progress({ label, done, all }: ProgressProps) {
  return (
    <progress className={styles.progress} aria-label={label} max={Math.max(1, all)} value={all === 0 ? 1 : done} />
  );
}
