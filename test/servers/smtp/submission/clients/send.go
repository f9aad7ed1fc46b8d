// Sends a message with net/smtp. Arguments: port, certificate file. The key is in MAILROOM_KEY.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"log"
	"net/smtp"
	"os"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	pem, err := os.ReadFile(os.Args[2])
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client, err := smtp.Dial("localhost:" + os.Args[1])
	check(err)
	check(client.StartTLS(&tls.Config{RootCAs: roots, ServerName: "localhost"}))
	check(client.Auth(smtp.PlainAuth("", "app", os.Getenv("MAILROOM_KEY"), "localhost")))
	check(client.Mail("hello@demo.test"))
	check(client.Rcpt("bob@friend.test"))
	data, err := client.Data()
	check(err)
	_, err = data.Write([]byte("From: hello@demo.test\r\nTo: bob@friend.test\r\nSubject: net/smtp: Gr\xc3\xbc\xc3\x9fe\r\n" +
		"X-Mailroom-Tag: client=net/smtp\r\n\r\nGr\xc3\xbc\xc3\x9fe aus Go\r\n.\r\nEnde\r\n"))
	check(err)
	check(data.Close())
	check(client.Quit())
}
