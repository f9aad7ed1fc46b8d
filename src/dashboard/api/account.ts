import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { requestJson } from './request.ts'

/** A passkey of the person. */
export interface PasskeyOfAccount {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly last_used_at: string | null
}

/** Where the person is signed in. */
export interface SessionOfAccount {
  readonly id: string
  readonly is_current: boolean
  readonly created_at: string
  readonly last_used_at: string
  readonly expires_at: string
  readonly ip: string
  readonly user_agent: string | null
}

/** The person's own things (`GET /app/api/account`). */
export interface Account {
  readonly email: string
  readonly name: string
  readonly has_password: boolean
  readonly has_authenticator: boolean
  readonly backup_codes_left: number
  readonly passkeys: readonly PasskeyOfAccount[]
  readonly sessions: readonly SessionOfAccount[]
}

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: () => requestJson<Account>('GET', '/app/api/account'),
})

/** After a change that answers with the account. Who is signed in, and what they still need, may have changed too. */
export async function takeAccount(queryClient: QueryClient, account: Account): Promise<void> {
  queryClient.setQueryData(accountQuery.queryKey, account)
  await queryClient.invalidateQueries({ queryKey: ['session'] })
}
