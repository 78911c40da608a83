/** SavedViewService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type CreateSavedViewRequest,
  SavedViewSchema,
  type SavedViewService,
  SavedViewVisibility,
  type UpdateSavedViewRequest,
} from '../../../gen/spandrel/v1/saved_views_pb.js';
import { requirePermission } from '../../auth/authorize.ts';
import { may, projectScope } from '../../domain/keys/permissions.ts';
import type { SavedView } from '../../domain/traces/views/saved-view.ts';
import {
  type SavedViewCall,
  type SavedViewChange,
  type SavedViewDraft,
  type SavedViews,
  viewProblems,
} from '../../domain/traces/views/saved-views.ts';
import { cursorRequest, pageMessage } from '../cursor-page.ts';
import { nameOf } from '../enums.ts';
import { fieldsOf } from '../field-values.ts';
import { nulProblems, updateProblems } from '../management-problems.ts';
import type { Context, Implementation } from '../method.ts';
import { actorCallOf } from '../scope.ts';
import { sentValues } from '../update-mask.ts';

export function createSavedViewRpc({ views }: { readonly views: SavedViews }): Implementation<typeof SavedViewService> {
  const show = (call: SavedViewCall, view: SavedView): MessageInitShape<typeof SavedViewSchema> => ({
    ...fieldsOf(view),
    visibility: SavedViewVisibility[view.visibility],
    canChange: views.mayChange(call, view),
  });
  return {
    async listSavedViews(request, context) {
      const call = callOf(context);
      return pageMessage(await views.list(call, cursorRequest(request)), (view) => show(call, view));
    },
    createSavedView: {
      check: (request, input) => [...nulProblems(request, input), ...viewProblems(draftOf(request))],
      async handle(request, context) {
        const call = callOf(context);
        return { savedView: show(call, await views.create(call, draftOf(request))) };
      },
    },
    async getSavedView({ savedViewId }, context) {
      const call = callOf(context);
      return { savedView: show(call, await views.get(call, savedViewId)) };
    },
    updateSavedView: {
      precheck: ({ savedViewId }, context) => views.admit(callOf(context), savedViewId),
      check: (request, input) => [...updateProblems(request, input), ...viewProblems(changeOf(request))],
      async handle(request, context) {
        const call = callOf(context);
        return { savedView: show(call, await views.update(call, request.savedViewId, changeOf(request))) };
      },
    },
    async deleteSavedView({ savedViewId }, context) {
      await views.remove(callOf(context), savedViewId);
      return {};
    },
  };
}

function callOf(context: Pick<Context, 'caller' | 'project' | 'actor' | 'nowMs'>): SavedViewCall {
  const { caller, ...call } = actorCallOf(context);
  return {
    ...call,
    may: (permission) => may(caller.principal, permission, projectScope(call.project)),
    require: (permission) => requirePermission(permission, caller),
  };
}

/** Its fields are required. */
function draftOf({ name = '', search = '', visibility }: CreateSavedViewRequest): SavedViewDraft {
  return { name, search, visibility: nameOf(SavedViewVisibility, visibility) ?? 'PROJECT' };
}

function changeOf({ savedView: resource, updateMask: mask }: UpdateSavedViewRequest): SavedViewChange {
  const sent = sentValues(SavedViewSchema, { resource, mask }, ['name', 'search', 'visibility']);
  const { visibility: number = 0, ...texts } = sent;
  const visibility = nameOf(SavedViewVisibility, number);
  return { ...texts, ...(visibility !== null && { visibility }) };
}
