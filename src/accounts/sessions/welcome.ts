import { type Instant, toIso } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { refuse } from '../../base/refusal.ts'
import { hashToken } from '../../base/secrets/token.ts'
import { recordAuditEntry } from '../audit/audit.ts'
import { type MemberRow, selectAnyMember, updateMemberNames, updateMemberUser } from '../members/table.ts'
import { findOrganization } from '../organizations/organizations.ts'
import { selectUser, selectUserByEmail, type UserRow, updateUser } from '../users/table.ts'
import { accountExists, accountExistsRefusals, addUser } from '../users/users.ts'
import type { SignInDeps, SignInRequest } from './deps.ts'
import { type LoginLinkRow, lockLoginLink, selectLoginLink, updateLoginLinkUsed } from './login-links-table.ts'
import type { WelcomeJson } from './schema.ts'
import { type IssuedSession, startSession } from './sessions.ts'
import { setCookies } from './sign-in.ts'

/** The refusals of {@link lookAtLoginLink} and {@link takeLoginLink}. */
export const loginLinkRefusals = ['not_found', 'link_closed', ...accountExistsRefusals, 'rate_limited'] as const

/** Whom a link signs in. */
type Welcomed =
  /** The person that the link, or its member, belongs to. */
  | { readonly kind: 'person'; readonly user: UserRow }
  /** A member without an account: they get one. */
  | { readonly kind: 'new'; readonly member: MemberRow }
  /** A member without an account, whose email is that of an account: only who is signed in to it may join the two. */
  | { readonly kind: 'join'; readonly member: MemberRow; readonly user: UserRow }

/** What a login link is for; looking at it does not use it. @throws Refusal `not_found`, `link_closed` */
export async function lookAtLoginLink({ db, clock }: SignInDeps, token: string): Promise<WelcomeJson> {
  const link = await selectLoginLink(db, hashToken(token))
  const { expires_at } = requireOpenLink(link, clock.now())
  const welcomed = await findWelcomed(db, link)
  const member = welcomed.kind === 'person' ? undefined : welcomed.member
  const organization = link?.member_id
    ? await organizationOf(db, member ?? (await selectAnyMember(db, link.member_id)))
    : null
  return {
    email: welcomed.kind === 'new' ? welcomed.member.email : welcomed.user.email,
    name: welcomed.kind === 'new' ? welcomed.member.name : welcomed.user.name,
    organization,
    has_account: welcomed.kind === 'person' ? welcomed.user.last_sign_in_at !== null : welcomed.kind === 'join',
    must_sign_in: welcomed.kind === 'join',
    expires_at: toIso(expires_at),
  }
}

/**
 * Signs in whom the link is for, and closes it. A member without an account gets one; where their email is that of an account,
 * its person must be signed in, and is joined with the member.
 * @throws Refusal `not_found`, `link_closed`, `account_exists` when its person must sign in first
 */
export async function takeLoginLink(
  deps: SignInDeps,
  request: SignInRequest,
  { token, name }: { readonly token: string; readonly name?: string | undefined },
): Promise<IssuedSession> {
  const { db, clock } = deps
  const { user, issued } = await inTransaction(db, async tx => {
    const at = clock.now()
    const link = requireOpenLink(await lockLoginLink(tx, hashToken(token)), at)
    const welcomed = await findWelcomed(tx, link)
    const user = await welcome(tx, deps, request, welcomed, name)
    await updateLoginLinkUsed(tx, link, at)
    await recordAuditEntry(
      tx,
      { actor: user.email, clock, ip: request.ip },
      {
        action: 'account.sign_in',
        subject: user.id,
        detail: { with: 'link', link: link.id, joined: welcomed.kind === 'join' },
      },
    )
    return { user, issued: await startSession(tx, user.id, request, clock) }
  })
  setCookies(deps, request, user, issued)
  return issued
}

function requireOpenLink(link: LoginLinkRow | undefined, now: Instant): LoginLinkRow {
  if (!link)
    throw refuse('not_found', {
      message: 'This link is not known here. Open it exactly as you got it, or ask for another.',
      isFailedAuthentication: true,
    })
  const reason = link.used_at !== null ? 'was used' : link.expires_at <= now ? 'has expired' : undefined
  if (reason !== undefined)
    throw refuse('link_closed', {
      message: `This link ${reason}; each is good once, for 24 hours. Ask whoever gave it to you for another.`,
      reason,
    })
  return link
}

async function findWelcomed(db: Db, link: Pick<LoginLinkRow, 'user_id' | 'member_id'> | undefined): Promise<Welcomed> {
  if (link?.user_id) return { kind: 'person', user: requireFound(await selectUser(db, link.user_id)) }
  const member = requireFound(link?.member_id ? await selectAnyMember(db, link.member_id) : undefined)
  if (member.user_id !== null) return { kind: 'person', user: requireFound(await selectUser(db, member.user_id)) }
  const user = await selectUserByEmail(db, member.email)
  return user ? { kind: 'join', member, user } : { kind: 'new', member }
}

/** Links go with the member or person that they are for. */
function requireFound<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('a login link is for nobody')
  return row
}

async function welcome(
  tx: Db,
  { clock }: SignInDeps,
  { session }: SignInRequest,
  welcomed: Welcomed,
  name: string | undefined,
): Promise<UserRow> {
  switch (welcomed.kind) {
    case 'person': {
      const { user } = welcomed
      if (name !== undefined && user.last_sign_in_at === null) {
        await updateUser(tx, user.id, { name })
        await updateMemberNames(tx, user.id, name)
      }
      return user
    }
    case 'join': {
      const { user, member } = welcomed
      if (session?.userId !== user.id) throw accountExists(user.email)
      await updateMemberUser(tx, member.id, user.id)
      return user
    }
    case 'new': {
      const { member } = welcomed
      const user = await addUser(tx, { email: member.email, name: name ?? member.name }, clock)
      await updateMemberUser(tx, member.id, user.id)
      await updateMemberNames(tx, user.id, user.name)
      return user
    }
  }
}

async function organizationOf(db: Db, member: MemberRow | undefined): Promise<{ name: string } | null> {
  const organization = member && (await findOrganization(db, member.organization_id))
  return organization ? { name: organization.name } : null
}
