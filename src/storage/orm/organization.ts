/** The organization, what it is divided into, and who belongs to it. */

import { defineEntity, p } from '@mikro-orm/core';
import type { Binding } from '../../domain/permissions.ts';

export const Organization = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    // Short and ascending: rows of the busy tables carry it instead of the id.
    number: p.integer().primary().autoincrement(),
    id: p.text().unique(),
    name: p.text(),
    slug: p.text(),
    // Moves on with every change of what the organization manages; see version.ts.
    accessVersion: p.bigint('number'),
    createdAt: p.bigint('number'),
    updatedAt: p.bigint('number'),
  },
});

export const Team = defineEntity({
  name: 'Team',
  tableName: 'teams',
  properties: {
    organizationId: p.text().primary(),
    id: p.text().primary(),
    name: p.text(),
    slug: p.text(),
    createdAt: p.bigint('number'),
    updatedAt: p.bigint('number'),
  },
});

export const Project = defineEntity({
  name: 'Project',
  tableName: 'projects',
  properties: {
    number: p.integer().primary().autoincrement(),
    id: p.text().unique(),
    organizationId: p.text(),
    teamId: p.text(),
    name: p.text(),
    slug: p.text(),
    language: p.text(),
    framework: p.text(),
    emitRequestEvents: p.boolean(),
    traceRetentionDays: p.integer().nullable(),
    keyHash: p.blob().unique(),
    keyHint: p.text(),
    keyImported: p.boolean(),
    previousKeyHash: p.blob().nullable(),
    previousKeyUntil: p.bigint('number').nullable(),
    previousKeyImported: p.boolean().nullable(),
    keyLastUsedAt: p.bigint('number').nullable(),
    createdAt: p.bigint('number'),
    updatedAt: p.bigint('number'),
    archivedAt: p.bigint('number').nullable(),
  },
});

export const Member = defineEntity({
  name: 'Member',
  tableName: 'members',
  properties: {
    organizationId: p.text().primary(),
    userId: p.text().primary(),
    email: p.text(),
    name: p.text(),
    disabledAt: p.bigint('number').nullable(),
    createdAt: p.bigint('number'),
    updatedAt: p.bigint('number'),
  },
});

export const RoleBinding = defineEntity({
  name: 'RoleBinding',
  tableName: 'role_bindings',
  properties: {
    organizationId: p.text().primary(),
    userId: p.text().primary(),
    id: p.text().primary(),
    role: p.text().$type<Binding['role']>(),
    scopeType: p.text().$type<Binding['scopeType']>(),
    scopeId: p.text(),
    permissions: p.text(),
    createdAt: p.bigint('number'),
  },
});
