import styles from './controls.module.css';
import { ICON_PATHS, type IconName } from './icon-paths.ts';

/** Decorates; a text or a label says the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className={styles.icon} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}
