image: quay.io/acme/web:v1
