<?php
// Sends a message with PHPMailer as WordPress does. Arguments: port, certificate file. The key is in MAILROOM_KEY.
require '/usr/share/php/libphp-phpmailer/autoload.php';

[, $port, $certificate] = $argv;
$mail = new PHPMailer\PHPMailer\PHPMailer(true);
$mail->isSMTP();
$mail->Host = 'localhost';
$mail->Port = (int) $port;
$mail->SMTPAuth = true;
$mail->Username = 'wordpress';
$mail->Password = getenv('MAILROOM_KEY');
$mail->SMTPSecure = PHPMailer\PHPMailer\PHPMailer::ENCRYPTION_STARTTLS;
$mail->SMTPOptions = ['ssl' => ['cafile' => $certificate]];
$mail->CharSet = 'UTF-8';
$mail->Encoding = '8bit';
$mail->setFrom('hello@demo.test', 'WordPress');
$mail->addAddress('bob@friend.test');
$mail->addBCC('secret@friend.test');
$mail->addCustomHeader('X-Mailroom-Tag', 'client=phpmailer');
$mail->Subject = 'phpmailer: Grüße';
$mail->isHTML();
$mail->Body = "<p>Grüße aus PHP</p>\n.\n<p>Ende</p>";
$mail->AltBody = "Grüße aus PHP\n.\nEnde";
$mail->addStringAttachment(str_repeat("\x00\xff", 100), 'Übersicht.bin');
$mail->send();
