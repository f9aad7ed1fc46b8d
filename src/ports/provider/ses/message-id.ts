/** The last part of Message-IDs that SES gives in a region: `email` is what it calls its first one. */
export function messageIdDomain(region: string): string {
  return `${region === 'us-east-1' ? 'email' : region}.amazonses.com`
}

/** The name under which an email's id goes along as a message tag, and comes back with each event. */
export const sesEmailIdTag = 'mailroom-id'
