/** The icons: lines of one weight on a grid of 16. They decorate; a text or a label says the same. */

import styles from './controls.module.css';

const PATHS = {
  overview: 'M2.5 13.5v-5m3.7 5V5m3.6 8.5v-6m3.7 6V2.5',
  traces: 'M2.5 3.5h7m-5 3h8m-6 3h5m-3 3h5',
  threads: 'M2.5 3.5h8v5.5h-4.5l-2 2v-2h-1.5zm5.5 7.5h2.5l2 2v-2h1V6.5h-1',
  users:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zm-4 6c0-2.5 1.8-4 4-4s4 1.5 4 4m.5-11a2.5 2.5 0 0 1 0 5m1 2.3c1.5.6 2.5 1.9 2.5 3.7',
  evaluators: 'M8 1.8l1.8 3.9 4.2.5-3.1 2.9.8 4.2L8 11.2l-3.7 2.1.8-4.2L2 6.2l4.2-.5z',
  monitors: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  datasets:
    'M2.5 4c0-1 2.5-1.8 5.5-1.8s5.5.8 5.5 1.8-2.5 1.8-5.5 1.8S2.5 5 2.5 4zm0 0v8c0 1 2.5 1.8 5.5 1.8s5.5-.8 5.5-1.8V4m-11 4c0 1 2.5 1.8 5.5 1.8s5.5-.8 5.5-1.8',
  experiments: 'M6 2.2h4m-3.2 0v4.3l-3.6 5.7c-.5.8 0 1.6.9 1.6h7.8c.9 0 1.4-.8.9-1.6L9.2 6.5V2.2M4.9 10h6.2',
  settings: 'M2 4.5h6m4 0h2m-4 0a2 2 0 1 0 .01 0M2 11.5h2m4 0h6m-8 0a2 2 0 1 0 .01 0',
  webhooks: 'M5.5 8a2.5 2.5 0 1 0-2.5 2.5h6m-1-5.3a2.5 2.5 0 1 1 4 .3L9.5 8m1.5 0a2.5 2.5 0 1 1-1.8 4.3',
  events: 'M3 2.5v11m0-9.5h.01M3 8h.01M3 12h.01M6 4h7.5M6 8h7.5M6 12h5',
  keys: 'M10.5 8.5a3 3 0 1 0-2.9-2.2L2.5 11.5v2h2v-1.5H6v-1.5h1.5l1-1c.6.3 1.3.5 2 .5zm.7-3.7h.01',
  projects: 'M2 4.5c0-.6.4-1 1-1h3l1.5 1.5H13c.6 0 1 .4 1 1v6c0 .6-.4 1-1 1H3c-.6 0-1-.4-1-1z',
  members: 'M8 7.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zm-5 6c0-2.7 2.2-4.3 5-4.3s5 1.6 5 4.3',
  teams: 'M8 2l5 2v4c0 3-2.2 5-5 6-2.8-1-5-3-5-6V4zm-2 5.8l1.5 1.5L10.2 6.5',
  providers: 'M4.5 11.5a3 3 0 0 1-.3-6A4 4 0 0 1 12 6.6a2.5 2.5 0 0 1-.5 4.9z',
  virtualKeys:
    'M2.5 5.5c0-.6.4-1 1-1h9c.6 0 1 .4 1 1v5c0 .6-.4 1-1 1h-9c-.6 0-1-.4-1-1zm2.5 2.5h.01m2.99 0h.01m2.99 0h.01',
  budgets: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zm0-12v6l4.2 4.2',
  spend:
    'M8 2v12m2.8-9.5c-.5-.9-1.6-1.3-2.8-1.3-1.6 0-2.9.8-2.9 2.2 0 3.1 5.9 1.5 5.9 4.8 0 1.5-1.4 2.4-3 2.4-1.4 0-2.6-.6-3-1.6',
  prices: 'M2.5 3v4.5l6 6 5-5-6-6H3a.5.5 0 0 0-.5.5zm3 2.5h.01',
  auditLog: 'M4 2.5h8c.6 0 1 .4 1 1v9c0 .6-.4 1-1 1H4c-.6 0-1-.4-1-1v-9c0-.6.4-1 1-1zM5.5 6h5m-5 2.5h5m-5 2.5h3',
  organization: 'M3 13.5v-11h6v11m0-7h4v7m-11.5 0h13M5 5h2M5 7.5h2M5 10h2',
  sessions: 'M2.5 3.5h11v7h-11zm3 10h5m-2.5-3v3',
  signOut: 'M6.5 13.5h-3c-.6 0-1-.4-1-1v-9c0-.6.4-1 1-1h3M10 11l3-3-3-3m3 3H6.5',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zm3.3-1.2l3.2 3.2',
  system: 'M2.5 3.5h11v7.5h-11zm3.5 10h4',
  light:
    'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zm0-9.3v1.3m0 10.4v1.3m6.5-6.5h-1.3M2.8 8H1.5m11.1-4.6l-.9.9M4.3 11.7l-.9.9m9.2 0l-.9-.9M4.3 4.3l-.9-.9',
  dark: 'M13.5 9.5A5.8 5.8 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7z',
  menu: 'M2.5 4.5h11m-11 3.5h11m-11 3.5h11',
  close: 'M4 4l8 8m0-8l-8 8',
  copy: 'M5.5 5.5v-2c0-.6.4-1 1-1h6c.6 0 1 .4 1 1v6c0 .6-.4 1-1 1h-2m-7-5h6c.6 0 1 .4 1 1v6c0 .6-.4 1-1 1h-6c-.6 0-1-.4-1-1v-6c0-.6.4-1 1-1z',
  done: 'M3 8.5l3.5 3.5L13 4.5',
  down: 'M4.5 6.5L8 10l3.5-3.5',
  back: 'M9.5 3.5L5 8l4.5 4.5',
  warning: 'M8 2.5l6 11H2zm0 4.2v3m0 1.9h.01',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className={styles.icon} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
