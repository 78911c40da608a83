/** Active filters that can be removed one by one. */

import type { ReactNode } from 'react';
import styles from './chip.module.css';
import { nameControls } from './format.ts';

export function Chips({ children }: { readonly children: ReactNode }) {
  return (
    <ul className={styles.chips} aria-label="Filters">
      {children}
    </ul>
  );
}

type ChipProps = { readonly name: string; readonly value: string; readonly onRemove: () => void };

export function Chip({ name, value, onRemove }: ChipProps) {
  return (
    <li className={styles.chip}>
      <span className={styles.name}>{nameControls(name)}</span>
      <span className={styles.value}>{nameControls(value)}</span>
      <button type="button" className={styles.remove} aria-label={`Remove ${name} ${value}`} onClick={onRemove}>
        ×
      </button>
    </li>
  );
}
