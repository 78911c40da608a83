import type { ReactNode } from 'react';
import page from './page.module.css';

export type Fact = readonly [label: string, value: ReactNode];

/** Labelled values side by side. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className={page.facts}>
      {facts.map(([label, value]) => (
        <div key={label} className={page.fact}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
