/** What the invitation grants (`POST /app/api/invitations/look`). */
export interface Invitation {
  readonly organization: { readonly name: string }
  readonly brands: readonly { readonly name: string }[]
  /** The only address that may accept it; null: any. */
  readonly email: string | null
  readonly permissions: readonly string[]
  readonly expires_at: string
  readonly has_account: boolean
}
