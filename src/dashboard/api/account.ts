import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { answer, app } from './client.ts'
import type { components } from './generated/app.ts'

/** The person's own things. */
export type Account = components['schemas']['Account']

export type PasskeyOfAccount = Account['passkeys'][number]

/** Where the person is signed in. */
export type SessionOfAccount = Account['sessions'][number]

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: () => answer(app.GET('/app/api/account')),
})

/** After a change that answers with the account. Who is signed in, and what they still need, may have changed too. */
export async function takeAccount(queryClient: QueryClient, account: Account): Promise<void> {
  queryClient.setQueryData(accountQuery.queryKey, account)
  await queryClient.invalidateQueries({ queryKey: ['session'] })
}
