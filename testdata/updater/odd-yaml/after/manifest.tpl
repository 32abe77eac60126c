image: quay.io/acme/web:v2
