import type { ReactNode } from 'react';
import page from './page.module.css';

/** A fact with the value false is left out. */
export type Fact = readonly [label: string, value: ReactNode];

/** Labelled values side by side. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  const known = facts.filter(([, value]) => value !== false);
  return (
    <dl className={page.facts}>
      {known.map(([label, value]) => (
        <div key={label} className={page.fact}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
