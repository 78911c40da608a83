/** The server stops reads of disconnected callers, but completes changes. */

import { expect, it } from 'vitest';
import { TeamService } from '../../gen/spandrel/v1/organization_pb.js';
import type { Fault } from '../../src/domain/fault.ts';
import { createPipeline, type Sent } from '../support/pipeline.ts';

/** A caller that stays connected until `leave`. */
function createCaller() {
  let left = false;
  const sent: Sent = { as: 'admin', isDisconnected: () => left };
  return {
    sent,
    leave: () => {
      left = true;
    },
  };
}

const codeOf = (call: Promise<unknown>) => call.then(() => 'answered').catch((error: Fault) => error.code);

it('a read is not begun for a caller who has left', async () => {
  const caller = createCaller();
  let begun = 0;
  const handle = async () => {
    begun += 1;
    return {};
  };
  const { call } = createPipeline(TeamService, { listTeams: { handle } });
  expect(await codeOf(call('listTeams', {}, caller.sent))).toBe('answered');
  caller.leave();
  expect(await codeOf(call('listTeams', {}, caller.sent))).toBe('request_timeout');
  expect(begun).toBe(1);
});

it('a read that has begun loads nothing more once its caller has left', async () => {
  const caller = createCaller();
  let loaded = 0;
  const { call } = createPipeline(TeamService, {
    listTeams: {
      handle: async (_, context) => {
        context.countResponseBytes(100);
        loaded += 1;
        caller.leave();
        context.countResponseBytes(100);
        loaded += 1;
        return {};
      },
    },
  });
  expect(await codeOf(call('listTeams', {}, caller.sent))).toBe('request_timeout');
  expect(loaded).toBe(1);
});

it('the result is discarded, and its slot released, when its client disconnected', async () => {
  const caller = createCaller();
  const { call } = createPipeline(TeamService, {
    listTeams: {
      handle: async (_, context) => {
        // The whole answer budget of the test pipeline.
        context.countResponseBytes(10_000);
        caller.leave();
        return {};
      },
    },
  });
  expect(await codeOf(call('listTeams', {}, caller.sent))).toBe('request_timeout');
  expect(await codeOf(call('listTeams', {}, { as: 'admin' }))).toBe('answered');
});

it('a change is made and answered, even when its client disconnects', async () => {
  const caller = createCaller();
  let changed = 0;
  const { call } = createPipeline(TeamService, {
    createTeam: {
      handle: async (_, context) => {
        context.countResponseBytes(1);
        changed += 1;
        return {};
      },
    },
  });
  caller.leave();
  expect(await codeOf(call('createTeam', { name: 'a' }, caller.sent))).toBe('answered');
  expect(changed).toBe(1);
});
