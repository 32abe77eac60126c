{
  shop_tag: '3.0.4',
  shop: 'quay.io/bazaar/shop:3.0.4',
  other: '3.0.4',
}
