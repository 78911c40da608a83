/** An in-memory management store to test only the rules. The conformance suite tests the real ones. */

import type {
  ApiKeyRecord,
  AuditListing,
  AuditRecord,
  CredentialUse,
  KeyListing,
  ManagementChange,
  ManagementStore,
  MemberRecord,
  OrganizationRecord,
  ProjectRecord,
  Receipt,
  ReceiptName,
  RoleBindingRecord,
  TeamRecord,
} from '../../src/domain/management/management.ts';

export type FakeManagementStore = ManagementStore & {
  /** Every change that was stored, oldest first. */
  readonly changes: readonly ManagementChange[];
  readonly refusals: readonly AuditRecord[];
  /** How often each verb was called. */
  readonly calls: Map<string, number>;
  /** Stores rows without a commit, before a test. */
  seed(rows: SeedRows): void;
  /** Runs once just before the next commit, to simulate a concurrent change. */
  beforeCommit(run: () => Promise<void> | void): void;
};

export type SeedRows = Pick<ManagementChange, 'teams' | 'projects' | 'members' | 'roleBindings' | 'apiKeys'> & {
  readonly organizations?: readonly OrganizationRecord[];
};

type Tables = {
  readonly versions: Map<string, number>;
  readonly organizations: Map<string, OrganizationRecord>;
  readonly teams: Map<string, TeamRecord>;
  readonly projects: Map<string, ProjectRecord>;
  readonly members: Map<string, MemberRecord>;
  readonly roleBindings: Map<string, RoleBindingRecord>;
  readonly apiKeys: Map<string, ApiKeyRecord>;
  readonly audit: AuditRecord[];
  readonly receipts: Map<string, Receipt | 'running'>;
};

export function createFakeManagementStore(): FakeManagementStore {
  const tables: Tables = {
    versions: new Map(),
    organizations: new Map(),
    teams: new Map(),
    projects: new Map(),
    members: new Map(),
    roleBindings: new Map(),
    apiKeys: new Map(),
    audit: [],
    receipts: new Map(),
  };
  const changes: ManagementChange[] = [];
  const refusals: AuditRecord[] = [];
  const calls = new Map<string, number>();
  let intruder: (() => Promise<void> | void) | null = null;
  const verbs: ManagementStore = {
    version: async (organizationId) => tables.versions.get(organizationId) ?? 0,
    async commit(change) {
      const run = intruder;
      intruder = null;
      await run?.();
      const outcome = store(tables, change);
      if (outcome === 'stored') changes.push(change);
      return outcome;
    },
    ...createReads(tables),
    recordRefusal: async (refusal) => {
      refusals.push(refusal);
      tables.audit.push(refusal);
    },
    recordUse: async (uses) => uses.forEach((use) => void noteUse(tables, use)),
    claim: async (name, fingerprint) => claim(tables, name, fingerprint),
    release: async (name) => {
      if (tables.receipts.get(receiptKey(name)) === 'running') tables.receipts.delete(receiptKey(name));
    },
  };
  return {
    ...counted(verbs, calls),
    changes,
    refusals,
    calls,
    seed: (rows) => {
      for (const row of rows.organizations ?? []) tables.organizations.set(row.id, row);
      putRows(tables, rows);
    },
    beforeCommit: (run) => {
      intruder = run;
    },
  };
}

function counted(verbs: ManagementStore, calls: Map<string, number>): ManagementStore {
  const wrapped = Object.entries(verbs).map(([name, verb]) => [
    name,
    (...given: unknown[]) => {
      calls.set(name, (calls.get(name) ?? 0) + 1);
      return (verb as (...args: unknown[]) => unknown)(...given);
    },
  ]);
  return Object.fromEntries(wrapped) as ManagementStore;
}

function store(tables: Tables, change: ManagementChange): 'stored' | 'stale' | 'key_taken' {
  const version = tables.versions.get(change.organizationId) ?? 0;
  if (version !== change.expectedVersion) return 'stale';
  if ((change.projects ?? []).some((project) => isKeyTaken(tables, project))) return 'key_taken';
  if (change.organization) tables.organizations.set(change.organization.id, change.organization);
  for (const { userId } of change.removedMembers ?? []) tables.members.delete(userId);
  for (const { id } of change.removedRoleBindings ?? []) tables.roleBindings.delete(id);
  putRows(tables, change);
  tables.audit.push(...change.audit);
  if (change.receipt) tables.receipts.set(receiptKey(change.receipt.name), change.receipt);
  tables.versions.set(change.organizationId, version + 1);
  return 'stored';
}

function putRows(tables: Tables, rows: SeedRows): void {
  for (const row of rows.teams ?? []) tables.teams.set(row.id, row);
  for (const row of rows.projects ?? []) tables.projects.set(row.id, row);
  for (const row of rows.members ?? []) tables.members.set(row.userId, row);
  for (const row of rows.roleBindings ?? []) tables.roleBindings.set(row.id, row);
  for (const row of rows.apiKeys ?? []) tables.apiKeys.set(row.id, row);
}

function isKeyTaken(tables: Tables, project: ProjectRecord): boolean {
  const { keyHash, updatedAtMs } = project;
  return [...tables.projects.values()].some(({ id, ...other }) => {
    const overlaps = other.previousKeyHash?.equals(keyHash) && (other.previousKeyUntilMs ?? 0) > updatedAtMs;
    return id !== project.id && (other.keyHash.equals(keyHash) || overlaps === true);
  });
}

type Reads = Omit<ManagementStore, 'version' | 'commit' | 'recordRefusal' | 'recordUse' | 'claim' | 'release'>;

function createReads(tables: Tables): Reads {
  const of = <R extends { readonly organizationId: string }>(table: Map<string, R>, organizationId: string): R[] =>
    [...table.values()].filter((row) => row.organizationId === organizationId);
  const one = <R extends { readonly organizationId: string }>(table: Map<string, R>, key: [string, string]) => {
    const row = table.get(key[1]);
    return row?.organizationId === key[0] ? row : null;
  };
  return {
    organization: async (organizationId) => tables.organizations.get(organizationId) ?? null,
    teams: async (organizationId) => of(tables.teams, organizationId).toSorted(oldestFirst),
    projects: async (organizationId) =>
      of(tables.projects, organizationId)
        .filter((project) => project.archivedAtMs === null)
        .toSorted(oldestFirst),
    project: async (...key) => one(tables.projects, key),
    priceOverrides: async () => [],
    budget: async () => null,
    budgets: async () => [],
    countBudgets: async () => 0,
    activeBudgets: async () => ({ version: 0, budgets: [] }),
    modelProviders: async () => [],
    modelProvider: async () => null,
    virtualKey: async () => null,
    virtualKeys: async () => [],
    countVirtualKeys: async () => 0,
    virtualKeyProjects: async () => [],
    identity: async () => null,
    identityOf: async () => null,
    findHome: async () => null,
    session: async () => null,
    sessions: async () => [],
    budgetIds: async () => [],
    members: async (organizationId) => of(tables.members, organizationId).toSorted(oldestFirst),
    member: async (...key) => one(tables.members, key),
    roleBindings: async (organizationId, userId) =>
      of(tables.roleBindings, organizationId).filter((binding) => userId === null || binding.userId === userId),
    apiKey: async (...key) => one(tables.apiKeys, key),
    apiKeys: async (organizationId, listing) => listKeys(of(tables.apiKeys, organizationId), listing),
    apiKeysOf: async (organizationId, userId) =>
      of(tables.apiKeys, organizationId).filter((key) => key.userId === userId),
    audit: async (organizationId, listing) =>
      listAudit(
        tables.audit.filter((entry) => entry.organizationId === organizationId),
        listing,
      ),
    findAdministrators: async (email) => findAdministrators(tables, email),
  };
}

type Placed = { readonly createdAtMs: number; readonly id: string };

function listKeys(keys: readonly ApiKeyRecord[], listing: KeyListing): ApiKeyRecord[] {
  return keys
    .filter(({ keyType, userId, revokedAtMs }) => {
      const isListed = keyType === 'service' || listing.personalOf === 'all' || userId === listing.personalOf;
      return isListed && (listing.includeRevoked || revokedAtMs === null);
    })
    .filter((key) => isAfter(key, listing.after))
    .toSorted(newestFirst)
    .slice(0, listing.limit);
}

function listAudit(entries: readonly AuditRecord[], listing: AuditListing): AuditRecord[] {
  const wanted = ['action', 'actorUserId', 'actorKeyId', 'targetId', 'outcome'] as const;
  return entries
    .filter(({ createdAtMs }) => createdAtMs >= (listing.fromMs ?? 0) && createdAtMs <= (listing.toMs ?? Infinity))
    .filter((entry) => wanted.every((field) => listing[field] === null || listing[field] === entry[field]))
    .filter((entry) => isAfter(entry, listing.after))
    .toSorted(newestFirst)
    .slice(0, listing.limit);
}

function isAfter(row: Placed, after: Placed | null): boolean {
  return after === null || newestFirst(row, after) > 0;
}

function newestFirst(a: Placed, b: Placed): number {
  return b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

/** Rows of one instant stay in the order they were stored. */
function oldestFirst(a: { readonly createdAtMs: number }, b: { readonly createdAtMs: number }): number {
  return a.createdAtMs - b.createdAtMs;
}

function findAdministrators(tables: Tables, email: string): readonly MemberRecord[] {
  const isAdministrator = ({ userId, organizationId }: MemberRecord) =>
    [...tables.roleBindings.values()].some(
      (binding) =>
        binding.userId === userId &&
        binding.role === 'ADMIN' &&
        binding.scopeType === 'ORGANIZATION' &&
        binding.scopeId === organizationId,
    );
  return [...tables.members.values()].filter(
    (member) => member.email === email && member.disabledAtMs === null && isAdministrator(member),
  );
}

function noteUse(tables: Tables, { kind, id, atMs }: CredentialUse): void {
  const key = kind === 'api_key' ? tables.apiKeys.get(id) : undefined;
  if (key) tables.apiKeys.set(id, { ...key, lastUsedAtMs: atMs });
  const project = kind === 'project_key' ? tables.projects.get(id) : undefined;
  if (project) tables.projects.set(id, { ...project, keyLastUsedAtMs: atMs });
}

function claim(tables: Tables, name: ReceiptName, _fingerprint: Buffer): 'claimed' | 'running' | Receipt {
  const found = tables.receipts.get(receiptKey(name));
  if (found === undefined) tables.receipts.set(receiptKey(name), 'running');
  return found ?? 'claimed';
}

function receiptKey({ organizationId, keyId, operation, value }: ReceiptName): string {
  return JSON.stringify([organizationId, keyId, operation, value]);
}
