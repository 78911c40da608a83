/**
 * Parts of the schema that the object mapper cannot express. The migrations have them as SQL, and the schema tests of
 * test/storage check that they are as said here.
 */

/** Tables whose rows SQLite stores in the order of their primary key: reads use that key and little else. */
export const WITHOUT_ROWID = [
  'analytics_hours',
  'budget_buckets',
  'budget_leases',
  'cached_bytes',
  'evaluation_jobs',
  'events',
  'governance_events',
  'rate_buckets',
  'request_keys',
  'search_pending',
  'usage_nodes',
  'webhook_figures',
  'webhook_hours',
] as const;

export type Reference = {
  readonly table: string;
  readonly columns: readonly string[];
  readonly to: string;
  readonly toColumns: readonly string[];
  /** Whether a row is deleted with the row it refers to; otherwise it blocks that deletion. */
  readonly isDeletedWithIt: boolean;
};

/** Foreign keys. The mapper derives them from relations between objects, but the rows here hold ids. */
export const REFERENCES: readonly Reference[] = [
  { ...ofKey('api_key_bindings', 'api_keys', 'api_key_id'), isDeletedWithIt: true },
  ofOrganization('api_keys'),
  ofOrganization('audit_log'),
  ofOrganization('budgets'),
  ofOrganization('idempotency_receipts'),
  ofMember('identities'),
  ofOrganization('members'),
  ofOrganization('model_providers'),
  ofOrganization('price_overrides'),
  {
    table: 'projects',
    columns: ['organization_id', 'team_id'],
    to: 'teams',
    toColumns: ['organization_id', 'id'],
    isDeletedWithIt: false,
  },
  ofMember('role_bindings'),
  ofOrganization('sessions'),
  ofOrganization('teams'),
  ofOrganization('virtual_keys'),
  ofOrganization('webhook_endpoints'),
];

function ofOrganization(table: string): Reference {
  return ofKey(table, 'organizations', 'organization_id');
}

function ofMember(table: string): Reference {
  const columns = ['organization_id', 'user_id'];
  return { table, columns, to: 'members', toColumns: columns, isDeletedWithIt: true };
}

function ofKey(table: string, to: string, column: string): Reference {
  return { table, columns: [column], to, toColumns: ['id'], isDeletedWithIt: false };
}
