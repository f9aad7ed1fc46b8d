/** The domain of the Message-IDs that SES assigns in a region; in us-east-1 it begins with `email`. */
export function messageIdDomain(region: string): string {
  return `${region === 'us-east-1' ? 'email' : region}.amazonses.com`
}

/** The message tag that holds an email's id; SES returns it with each event. */
export const sesEmailIdTag = 'mailroom-id'
