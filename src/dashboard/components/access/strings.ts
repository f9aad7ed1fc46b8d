import type { Scope, scopeGroups } from './scopes.ts'

const groups: Readonly<Record<(typeof scopeGroups)[number]['key'], string>> = {
  email: 'Email',
  inbox: 'Inbox',
  drafts: 'Drafts',
  templates: 'Templates',
  suppressions: 'Suppressions',
  domains: 'Domains',
  brands: 'Brands',
  webhooks: 'Webhooks',
  members: 'Members',
}

const scopes: Readonly<Record<Scope, string>> = {
  'email:send': 'Send, reply and forward',
  'email:read': 'Read sent emails',
  'inbox:read': 'Read messages',
  'inbox:write': 'Sort, star and delete messages',
  'drafts:read': 'Read drafts',
  'drafts:write': 'Write drafts',
  'templates:read': 'Read templates',
  'templates:write': 'Change templates',
  'suppressions:read': 'Read suppressions',
  'suppressions:write': 'Add and remove suppressions',
  'domains:read': 'Read domains and DNS records',
  'domains:write': 'Add and change domains',
  'brands:read': 'Read brands',
  'brands:write': 'Create and change brands',
  'webhooks:read': 'Read webhooks and their deliveries',
  'webhooks:write': 'Add and change webhooks',
  'members:read': 'Read members',
  'members:write': 'Invite and remove members',
}

/** What permissions are called. */
export const accessStrings = {
  groups,
  scopes,
  brands: 'In these brands',
  permissions: 'Permissions',
  apiAccess: 'Create API keys of their own',
  apiAccessHint: 'A key of theirs may never do more than they may themselves.',
} as const
