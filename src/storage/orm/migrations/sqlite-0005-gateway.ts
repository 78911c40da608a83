/** What gateways report: requests that wait for their outcome, and events that are in no log. */

import type { SqlMigration } from './sql-migration.ts';

export const gateway: SqlMigration = {
  name: 'sqlite-0005-gateway',
  statements: [
    // What the request was admitted with, as JSON; kept until no outcome can follow any more.
    'ALTER TABLE requests ADD COLUMN admission TEXT',
    'CREATE INDEX requests_admitted ON requests (received_at) WHERE state = 2',
    // Their envelopes are among the events. Only those in events_by_time are in the log.
    `CREATE TABLE governance_events (
      organization_number INTEGER NOT NULL,
      id TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (organization_number, id)
    ) WITHOUT ROWID`,
    'CREATE INDEX governance_events_by_time ON governance_events (organization_number, created_at)',
  ],
};
