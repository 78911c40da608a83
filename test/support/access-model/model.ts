/**
 * The documented access rules as an independent implementation: it shares no code with the product and is as simple as
 * it can be.
 */

import { type Proven, projectOf, proveFirst } from './credential.ts';
import { judgeKeyRevocation, judgeKeyRotation, judgeKeyUpdate } from './key-changes.ts';
import { admitKeyCreation, judgeKeyCreation } from './key-creation.ts';
import { judgeKeyList, judgeKeyRead } from './key-view.ts';
import * as members from './members.ts';
import * as routes from './project-routes.ts';
import * as projects from './projects.ts';
import type { Receipt, State } from './state.ts';
import {
  type Allowed,
  type Ask,
  allow,
  type Call,
  Refusal,
  refuse,
  requireAtOrganization,
  type Verdict,
} from './verdict.ts';

type OrganizationRule = {
  readonly needs?: string;
  readonly keepsAnswers?: boolean;
  /** Checks that come before the idempotency key: permissions and body. */
  readonly admit?: (call: Call) => void;
  readonly judge: (call: Call) => Allowed;
};
type ProjectRule = { readonly needs: string; readonly judge: (call: routes.ProjectCall) => Allowed };

const VIEW = 'organization:view';
const MANAGE = 'organization:manage';

export const ORGANIZATION_RULES: Readonly<Record<string, OrganizationRule>> = {
  ListApiKeys: { needs: VIEW, judge: judgeKeyList },
  CreateApiKey: { needs: MANAGE, keepsAnswers: true, admit: admitKeyCreation, judge: judgeKeyCreation },
  GetApiKey: { needs: VIEW, judge: judgeKeyRead },
  UpdateApiKey: { needs: MANAGE, judge: judgeKeyUpdate },
  RevokeApiKey: { needs: MANAGE, judge: judgeKeyRevocation },
  RotateApiKey: { needs: MANAGE, keepsAnswers: true, judge: judgeKeyRotation },
  GetOrganization: { needs: VIEW, judge: readOrganization },
  UpdateOrganization: { needs: MANAGE, judge: renameOrganization },
  ListProjects: { judge: projects.judgeProjectList },
  CreateProject: { keepsAnswers: true, admit: projects.admitProjectCreation, judge: projects.judgeProjectCreation },
  GetProject: { judge: projects.judgeProjectRead },
  UpdateProject: { judge: projects.judgeProjectUpdate },
  ArchiveProject: { judge: projects.judgeProjectArchive },
  RotateProjectKey: { keepsAnswers: true, admit: projects.admitKeyRotation, judge: projects.judgeProjectKeyRotation },
  ListTeams: { judge: projects.judgeTeamList },
  CreateTeam: { needs: 'team:manage', keepsAnswers: true, judge: projects.judgeTeamCreation },
  ListMembers: { needs: MANAGE, judge: members.judgeMemberList },
  CreateMember: { needs: MANAGE, keepsAnswers: true, judge: members.judgeMemberCreation },
  UpdateMember: { needs: MANAGE, judge: members.judgeMemberUpdate },
  RemoveMember: { needs: MANAGE, judge: members.judgeMemberRemoval },
  ListRoleBindings: { needs: MANAGE, judge: members.judgeBindingList },
  CreateRoleBinding: {
    needs: MANAGE,
    keepsAnswers: true,
    admit: members.admitBindingCreation,
    judge: members.judgeBindingCreation,
  },
  DeleteRoleBinding: { needs: MANAGE, judge: members.judgeBindingRemoval },
  ListAuditLog: { needs: 'auditLog:view', judge: () => allow(200) },
  ListEndpoints: { needs: 'webhookEndpoints:view', judge: () => allow(200, { lists: [] }) },
  ListEvents: { needs: 'webhookEndpoints:view', judge: () => allow(200) },
};

export const PROJECT_RULES: Readonly<Record<string, ProjectRule>> = {
  CollectTrace: { needs: 'traces:create', judge: routes.judgeCollection },
  GetTrace: { needs: 'traces:view', judge: routes.judgeTraceRead },
  GetEvaluator: { needs: 'evaluations:view', judge: routes.judgeEvaluatorRead },
  CreateEvaluator: { needs: 'evaluations:create', judge: routes.judgeEvaluatorCreation },
};

/** The expected answer. Only `commit` of an allowed verdict changes the state. */
export function judge(state: State, ask: Ask): Verdict {
  try {
    const proven = callerOf(state, ask);
    const rule = ORGANIZATION_RULES[ask.rpc];
    return rule === undefined ? judgeInProject(proven, ask) : decideAtOrganization(state, proven, { ask, rule });
  } catch (error) {
    if (error instanceof Refusal) return error.verdict;
    throw error;
  }
}

/** The caller. Throws a Refusal without a working credential. */
export function callerOf(state: State, ask: Ask): Proven {
  const isForKeys = ORGANIZATION_RULES[ask.rpc] !== undefined;
  return proveFirst(state, ask, ({ kind }) => kind === 'key' || !isForKeys);
}

function judgeInProject(proven: Proven, ask: Ask): Allowed {
  const rule = PROJECT_RULES[ask.rpc];
  if (rule === undefined) throw new Error(`nothing is known of ${ask.rpc}`);
  const call = { proven, project: projectOf(proven, ask), ask };
  routes.requireInProject(call, rule.needs);
  return rule.judge(call);
}

type OrganizationRequest = { readonly ask: Ask; readonly rule: OrganizationRule };

function decideAtOrganization(state: State, proven: Proven, { ask, rule }: OrganizationRequest): Allowed {
  if (proven.kind === 'project') refuse(401, 'credential_class_mismatch');
  const { organization, key } = proven;
  const call = { state, organization, key, ask, kept: null };
  if (rule.needs !== undefined) requireAtOrganization(call, rule.needs);
  rule.admit?.(call);
  if (!rule.keepsAnswers || ask.once === undefined) return rule.judge(call);
  const name = [key.id, ask.rpc, ask.once].join(' ');
  const fingerprint = JSON.stringify([ask.id, ask.body]);
  const kept = organization.receipts.get(name);
  if (kept !== undefined && state.nowMs - kept.completedAtMs < KEPT_MS)
    return repeat(call, rule, { kept, fingerprint });
  const verdict = rule.judge(call);
  return {
    ...verdict,
    commit(body) {
      const completedAtMs = state.nowMs;
      organization.receipts.set(name, { fingerprint, status: verdict.status, body, completedAtMs });
      verdict.commit?.(body);
    },
  };
}

const KEPT_MS = 24 * 3_600_000;

type Repetition = { readonly kept: Receipt; readonly fingerprint: string };

/** A replay checks the caller's rights again, but not conflicts with current data. */
function repeat(call: Call, rule: OrganizationRule, { kept, fingerprint }: Repetition): Allowed {
  if (kept.fingerprint !== fingerprint) refuse(409, 'idempotency_error', { reason: 'body_mismatch' });
  try {
    const { secrets = [] } = rule.judge({ ...call, kept: kept.body });
    return allow(kept.status, { shows: kept.body, secrets, isReplay: true, facts: ['a replay that is allowed'] });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status, code, members } = error.verdict;
    throw new Refusal(status, code, members, ['a replay that is refused']);
  }
}

function readOrganization({ organization: { id, name } }: Call): Allowed {
  return allow(200, { shows: { id, name } });
}

function renameOrganization({ organization, ask }: Call): Allowed {
  const name = typeof ask.body?.name === 'string' ? ask.body.name : organization.name;
  return allow(200, {
    shows: { id: organization.id, name },
    commit() {
      organization.name = name;
    },
  });
}
